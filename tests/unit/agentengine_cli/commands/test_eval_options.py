from pathlib import Path
from typing import Any

import pytest

from agentengine_cli.commands.eval_options import document_of
from agentengine_cli.errors import WrongUsage

NOTHING: dict[str, Any] = dict.fromkeys(
    (
        *("dataset", "data", "only", "limit", "audit", "without_known_errors", "pipeline", "mode"),
        *("k", "depth", "rerank", "reader", "model", "prompt", "judge", "judge_model", "runs"),
        *("with_adversarial", "baseline", "fail_under"),
    )
)


def document(**given: Any) -> dict[str, Any]:
    return document_of(**NOTHING | given)


def test_what_was_not_given_says_nothing() -> None:
    said = document()

    assert set(said.pop("data").values()) == {None}
    assert set(said.values()) == {None}


def test_lists_are_written_with_commas() -> None:
    said = document(only="26, 30,", mode="hybrid,text", k="5,10", prompt="short", judge="a,b")

    assert said["data"]["only"] == ["26", "30"]
    assert (said["modes"], said["k"]) == (["hybrid", "text"], [5, 10])
    assert (said["prompts"], said["judges"]) == (["short"], ["a", "b"])


def test_model_is_written_with_its_provider() -> None:
    said = document(model="openai/org/tiny", judge_model="gemini/flash")

    assert said["model"] == {"provider": "openai", "model": "org/tiny"}
    assert said["judge_model"] == {"provider": "gemini", "model": "flash"}


def test_nobody_has_to_answer() -> None:
    assert document(reader="none")["readers"] == []
    assert document(reader="extractive,model")["readers"] == ["extractive", "model"]


def test_figures_to_be_reached_are_several() -> None:
    said = document(fail_under=["recall@10=0.75", "session.hit@5/1=.5"])

    assert said["fail_under"] == {"recall@10": 0.75, "session.hit@5/1": 0.5}


def test_paths_mean_the_same_from_everywhere() -> None:
    said = document(data=Path("talks.jsonl"), baseline=[Path("before")])

    assert said["data"]["path"] == str(Path.cwd() / "talks.jsonl")
    assert said["baselines"] == [str(Path.cwd() / "before")]


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("k", "5;10"),
        ("model", "tiny"),
        ("judge_model", "/tiny"),
        ("fail_under", ["recall@10"]),
        ("fail_under", ["=0.5"]),
        ("fail_under", ["recall@10=high"]),
    ],
)
def test_what_cannot_be_meant_is_wrong_usage_with_an_example(option: str, value: Any) -> None:
    with pytest.raises(WrongUsage, match="such as") as refused:
        document(**{option: value})
    assert str(refused.value).startswith(f"--{option.replace('_', '-')}")


@pytest.mark.parametrize("option", ["only", "mode", "reader", "prompt", "judge"])
@pytest.mark.parametrize("text", ["", ", "])
def test_no_name_at_all_is_not_every_name(option: str, text: str) -> None:
    with pytest.raises(WrongUsage, match=f"^--{option}: .* names nothing"):
        document(**{option: text})
