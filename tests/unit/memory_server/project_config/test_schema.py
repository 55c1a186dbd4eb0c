from collections.abc import Iterator
from typing import Any

from jsonschema import Draft202012Validator

from memory_server.project_config import known_keys, load_schema
from memory_server.project_config.explain import _SENTENCES
from memory_server.project_config.schema import accepts

SILENT = {"$ref", "title", "description", "default", "properties", "items", "allOf"}
TOLD_ELSEWHERE = {"additionalProperties", "required", "uniqueItems", "patternErrorMessage"}


def parts() -> Iterator[dict[str, Any]]:
    waiting: list[Any] = [*load_schema()["$defs"].values()]
    while waiting:
        part = waiting.pop()
        yield part
        waiting += [*part.get("properties", {}).values()]
        waiting += [part["items"]] if "items" in part else []


def test_it_is_a_valid_schema() -> None:
    Draft202012Validator.check_schema(load_schema())


def test_every_key_has_a_title_and_a_description_for_editors() -> None:
    assert [
        path
        for path, key in known_keys().items()
        if not (key.schema.get("title") and key.schema.get("description"))
    ] == []


def test_every_keyword_it_uses_can_be_explained() -> None:
    used = {keyword for part in parts() for keyword in part}

    assert used - SILENT - TOLD_ELSEWHERE == set(_SENTENCES)


def test_what_an_explanation_needs_is_there() -> None:
    for part in parts():
        assert ("pattern" in part) == ("patternErrorMessage" in part)
        assert ("minimum" in part) == ("maximum" in part)
        assert "minItems" not in part or "maxItems" in part


def test_defaults_are_allowed_values() -> None:
    for path, key in known_keys().items():
        if "default" in key.schema:
            validator = Draft202012Validator({**load_schema(), **key.schema, "required": []})
            assert validator.is_valid(key.schema["default"]), path


def test_other_top_level_keys_are_allowed_and_unknown_memory_keys_are_not() -> None:
    assert accepts({"memory": {}, "governance": {}})
    assert not accepts({"memory": {"governance": {}}})
    assert not accepts({})
