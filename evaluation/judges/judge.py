"""A judge: a marking prompt, or a family of them, and the model that reads it."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

from evaluation.chat import ChatModel
from evaluation.judges.replies import READINGS
from evaluation.prompts import LONGMEMEVAL, OF_JUDGES, Prompt, judge_names, load_prompt
from evaluation.records import QuestionRecord
from memory_server.errors import InvalidRequest, Refused

_LME_BY_CATEGORY = {
    "temporal-reasoning": "lme_temporal",
    "knowledge-update": "lme_update",
    "single-session-preference": "lme_preference",
}
_LME_DEFAULT, _LME_ABSTENTION = "lme_default", "lme_abstention"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a judge said of one answer."""

    is_right: bool | None
    """None where the reply could not be read."""
    reply: str
    tokens_in: int = 0
    tokens_out: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """Marks answers. `name` is a variant, or `longmemeval` for the one that fits the question."""

    name: str
    prompts: Mapping[str, Prompt]
    model: ChatModel
    temperature: float = 0.0

    @property
    def digest(self) -> str:
        """Return a digest of all prompts it may use: part of what makes two judges the same."""
        digests = sorted(prompt.digest for prompt in self.prompts.values())
        return digests[0] if len(digests) == 1 else sha256("".join(digests).encode()).hexdigest()

    async def mark(self, question: QuestionRecord, answer: str) -> Verdict:
        """Mark one answer. Raises a `ProviderError` where the model cannot be asked."""
        prompt = self.prompts[self._variant(question)]
        told = prompt.filled(question=question.text, gold=_gold(question), answer=answer)
        try:
            said = await self.model.complete(
                prompt.instructions,
                told,
                temperature=self.temperature,
                max_tokens=prompt.max_tokens,
            )
        except Refused as refusal:
            return Verdict(is_right=None, reply=str(refusal))
        return Verdict(
            is_right=READINGS[prompt.reply](said.text),
            reply=said.text,
            tokens_in=said.tokens_in,
            tokens_out=said.tokens_out,
        )

    def _variant(self, question: QuestionRecord) -> str:
        if self.name != LONGMEMEVAL:
            return self.name
        if question.is_abstention:
            return _LME_ABSTENTION
        return _LME_BY_CATEGORY.get(question.category, _LME_DEFAULT)


def open_judge(name: str, model: ChatModel, *, temperature: float = 0.0) -> Judge:
    """Make the judge of a variant or family.

    Raises:
        InvalidRequest: there is none of that name.

    """
    if name not in judge_names():
        raise InvalidRequest(f"there is no judge {name!r}; there are {', '.join(judge_names())}")
    variants = [name]
    if name == LONGMEMEVAL:
        variants = [_LME_DEFAULT, _LME_ABSTENTION, *_LME_BY_CATEGORY.values()]
    prompts = {variant: load_prompt(OF_JUDGES, variant) for variant in variants}
    return Judge(name=name, prompts=prompts, model=model, temperature=temperature)


def can_be_marked(question: QuestionRecord) -> bool:
    """Whether a question has something that an answer can be marked by."""
    return bool(question.answers or question.rubric or question.is_abstention)


def _gold(question: QuestionRecord) -> str:
    if question.rubric:
        return question.rubric
    if question.answers:
        return " / ".join(question.answers)
    return "It was never said."
