import json
import re
from pathlib import Path

import pytest

from memory_server.project_config import KnownKey, known_keys

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "configuration.md"
ROWS: dict[str, list[str]] = {
    cells[0].strip("`"): cells
    for line in PAGE.read_text(encoding="utf-8").splitlines()
    if re.match(r"\| `memory", line)
    for cells in [[cell.strip() for cell in line.strip("|").split("|")]]
}
KINDS = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "boolean",
    "array": "list",
    "object": "mapping",
    "null": "null",
}


def kind_of(key: KnownKey) -> str:
    types = key.schema["type"]
    return " or ".join(KINDS[name] for name in ([types] if isinstance(types, str) else types))


def default_of(key: KnownKey) -> str:
    if "default" in key.schema:
        default = key.schema["default"]
        return f"`{default if isinstance(default, str) else json.dumps(default)}`"
    return "required" if key.required else "absent"


def test_every_key_is_documented_and_no_other() -> None:
    assert set(ROWS) == set(known_keys())


@pytest.mark.parametrize("path", known_keys())
def test_a_row_tells_kind_default_and_what_is_allowed(path: str) -> None:
    key = known_keys()[path]
    _, kind, default, allowed, meaning = ROWS[path]

    assert kind == kind_of(key)
    assert default.partition(":")[0] == default_of(key)
    assert allowed
    assert meaning


@pytest.mark.parametrize("path", known_keys())
def test_a_row_names_every_limit(path: str) -> None:
    schema = known_keys()[path].schema
    allowed = ROWS[path][3]
    choices = [*schema.get("enum", ()), *schema.get("items", {}).get("enum", ())]
    named = [*choices, *schema.get("not", {}).get("enum", ())]

    assert [name for name in named if f"`{'null' if name is None else name}`" not in allowed] == []
    if "minimum" in schema:
        assert allowed == f"{schema['minimum']} to {schema['maximum']}"
    if "maxItems" in schema and not choices:
        assert str(schema["maxItems"]) in allowed


@pytest.mark.parametrize(
    "trap",
    [
        "**An absent list is not an empty list.**",
        "**`api_key_secret` takes the name of a secret, not a key.**",
        "**Some things are written once.**",
    ],
)
def test_the_traps_are_explained(trap: str) -> None:
    assert trap in PAGE.read_text(encoding="utf-8")
