from pathlib import Path
from typing import Any

import pytest

from evaluation.errors import InvalidSuite
from evaluation.suite_file import read_suite

WHOLE = """\
data:
  dataset: locomo
  path: data/locomo10.json
  only: [26, 30]
pipeline: blocks
modes: [hybrid, text]
k: [5, 10]
baselines: [../before]
fail_under:
  recall@10: 0.75
"""


def written(directory: Path, text: str) -> Path:
    path = directory / "suite.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def problems(path: Path | None, **options: Any) -> list[str]:
    with pytest.raises(InvalidSuite) as refused:
        read_suite(path, options)
    found: list[str] = refused.value.details["problems"]
    assert str(refused.value) == "\n".join(found)
    return found


def test_suite_is_read_with_its_paths_from_where_it_lies(tmp_path: Path) -> None:
    suite = read_suite(written(tmp_path, WHOLE), {})

    assert suite.data.path == tmp_path / "data" / "locomo10.json"
    assert suite.data.only == ("26", "30")
    assert suite.baselines == (tmp_path / "../before",)
    assert suite.modes == ("hybrid", "text")
    assert suite.fail_under == {"recall@10": 0.75}
    assert suite.deepest == 50


def test_options_go_before_the_file_and_say_nothing_where_they_are_not_given(
    tmp_path: Path,
) -> None:
    options = {"data": {"only": ["41"], "path": None}, "k": [3], "pipeline": None}

    suite = read_suite(written(tmp_path, WHOLE), options)

    assert suite.data.only == ("41",)
    assert suite.data.path == tmp_path / "data" / "locomo10.json"
    assert (suite.k, suite.pipeline) == ((3,), "blocks")


def test_options_alone_are_a_suite() -> None:
    suite = read_suite(None, {"data": {"dataset": "own", "path": "talks.jsonl"}, "k": [5, 120]})

    assert suite.deepest == 120
    assert suite.pipeline == "turns"


def test_every_fault_is_told_with_its_place_what_it_is_and_the_fix(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "data:\n  dataset: locomoo\n  path: x.json\n"
        "k: [5, ten, 500, 0]\n"
        "modus: hybrid\n"
        "pipeline: turn\n",
    )

    assert problems(path) == [
        f"{path}:2:12: data.dataset: 'locomoo' is none of locomo, longmemeval, own; did you mean "
        "locomo?",
        f"{path}:4:8: k[1]: expected a whole number, found text",
        f"{path}:4:13: k[2]: is 500 and should be at most 200",
        f"{path}:4:18: k[3]: is 0 and should be at least 1",
        f"{path}:5:1: modus: is no key of a suite; did you mean modes?",
        f"{path}:6:11: pipeline: 'turn' is none of turns, blocks, extracted, mixed; did you mean "
        "turns?",
    ]


def test_what_is_missing_is_told_with_the_option_that_would_say_it() -> None:
    assert problems(None) == [
        "the options: data.dataset: is missing: write data.dataset in the suite, or give "
        "--dataset NAME",
        "the options: data.path: is missing: write data.path in the suite, or give --data PATH",
    ]


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("k: [80]\ndepth: 10\n", "depth: 10 is less than the largest k, 80: raise depth to it"),
        ("readers: [model]\n", "readers: the reader 'model' needs a model: name one under"),
        ("judges: [locomo_strict]\n", "judges: a judge needs a model: name one under"),
        ("rerank: true\n", "rerank: only the pipeline mixed is reranked, and this is turns"),
        ("modes: []\n", "modes: is empty: name at least one, or take the key out"),
        ("k: 5.5\n", "k: expected a list, found a decimal number"),
    ],
)
def test_what_excludes_each_other_is_told_at_the_key_that_has_to_change(
    tmp_path: Path, more: str, told: str
) -> None:
    path = written(tmp_path, "data: {dataset: own, path: x.jsonl}\n" + more)

    [problem] = problems(path)
    assert told in problem
    assert problem.startswith(f"{path}:")


def test_file_that_is_no_yaml_or_no_mapping_is_told(tmp_path: Path) -> None:
    assert "is not closed" in problems(written(tmp_path, "k: [5\n"))[0]
    assert problems(written(tmp_path, "- locomo\n")) == [
        f"{tmp_path / 'suite.yaml'}:1:1: expected a mapping of keys to values, found a list"
    ]
    assert "cannot be read: No such file" in problems(tmp_path / "none.yaml")[0]


def test_key_does_not_belong_in_a_suite_and_is_not_repeated(tmp_path: Path) -> None:
    key = "sk-proj-" + "Ab1" * 16
    path = written(
        tmp_path,
        "data: {dataset: own, path: x.jsonl}\n"
        f"judge_model: {{provider: openai, model: m, api_key_secret: {key}}}\n",
    )

    [problem] = problems(path)
    assert key not in problem
    assert ":2:" in problem


NAMED = {"data": {"dataset": "own", "path": "talks.jsonl"}}
MODEL = {"provider": "openai", "model": "tiny"}


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"prompts": ["shrt"]}, "'shrt' is no prompt; there are chain_of_note, direct, short; did"),
        ({"judges": ["lme"], "judge_model": MODEL}, "judges: 'lme' is no judge; there are longmem"),
        ({"fail_under": {"recal@10": 0.5}}, "recal@10 is no figure of this suite; did you mean re"),
        ({"fail_under": {"ndcg@9/1": 0.5}}, "ndcg@9 is no figure of this suite"),
        ({"fail_under": {"j@10": 0.5}}, "j@10 is no figure of this suite"),
        ({"fail_under": {"f1_squad@5": 0.5}, "readers": []}, "f1_squad@5 is no figure of this su"),
    ],
)
def test_names_that_nothing_has_are_refused_with_the_nearest(
    options: dict[str, Any], told: str
) -> None:
    [problem] = problems(None, **NAMED, **options)

    assert told in problem


def test_figures_of_every_kind_can_be_asked_for() -> None:
    names = "recall@7 recall@500t mrr exchange.ndcg@5 session.hit@5/1 fresh_over_stale@5 words@5"
    wanted = dict.fromkeys([*names.split(), "declined@5", "f1_mem0@5", "j@5"], 0.1)

    suite = read_suite(None, NAMED | {"k": [5], "fail_under": wanted, "judge_model": MODEL})

    assert suite.fail_under == wanted


def test_what_is_named_twice_is_measured_once() -> None:
    suite = read_suite(None, NAMED | {"k": [5, 5, 10], "modes": ["text", "text"]})

    assert (suite.k, suite.modes) == ((5, 10), ("text",))
