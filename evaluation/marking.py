"""Who answers and who marks, as a suite names them."""

from collections.abc import Mapping, Sequence

from evaluation.chat import ChatModel
from evaluation.judges.judge import Judge, open_judge
from evaluation.prompts import LONGMEMEVAL
from evaluation.readers.opening import DEFAULT_PROMPT, open_extractive, open_model_reader
from evaluation.readers.reader import Reader
from evaluation.suite import Suite

JUDGES: Mapping[str, tuple[str, ...]] = {
    "locomo": ("locomo_generous", "locomo_strict"),
    "longmemeval": (LONGMEMEVAL,),
    "own": ("lme_default",),
}
"""Who marks unless a suite says it, by data."""


def readers_of(suite: Suite, environment: Mapping[str, str]) -> Sequence[Reader]:
    """Return who answers; raises `InvalidRequest` for a prompt that there is not."""
    readers: list[Reader] = [open_extractive()] if "extractive" in suite.readers else []
    if "model" in suite.readers and suite.model is not None:
        model = ChatModel(suite.model, environment)
        prompts = suite.prompts or (DEFAULT_PROMPT,)
        readers += [open_model_reader(model, prompt) for prompt in prompts]
    return readers


def check_keys(
    suite: Suite, environment: Mapping[str, str], *, answers: bool, judges: bool
) -> None:
    """Raise `KeyRejected` where the model that answers, or judges, has no key."""
    asked = [
        suite.model if answers and "model" in suite.readers else None,
        suite.judge_model if judges else None,
    ]
    for choice in asked:
        if choice is not None:
            ChatModel(choice, environment).check_key()


def judges_of(suite: Suite, environment: Mapping[str, str]) -> Sequence[Judge]:
    """Return who marks, all by one model; nobody without one."""
    if suite.judge_model is None:
        return []
    model = ChatModel(suite.judge_model, environment)
    names = suite.judges or JUDGES[suite.data.dataset]
    return [open_judge(name, model, temperature=suite.temperature) for name in names]
