from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import ValidationError

from memory_server.api.mcp.calls import BuildContext, RecordTurn, SearchMemories
from memory_server.api.mcp.tools import TOOLS, ToolName
from memory_server.api.schemas.common import Body

MODELS: Mapping[ToolName, type[Body]] = {
    ToolName.RECORD_TURN: RecordTurn,
    ToolName.BUILD_CONTEXT: BuildContext,
    ToolName.SEARCH_MEMORIES: SearchMemories,
}
TAKEN = {tool.name: tool.takes for tool in TOOLS}
CASES = [
    (tool.name, field, schema)
    for tool in TOOLS
    for field, schema in tool.takes["properties"].items()
]


def arguments(name: ToolName, **changes: Any) -> dict[str, Any]:
    given = dict.fromkeys(TAKEN[name]["required"], "x")
    if name is ToolName.RECORD_TURN:
        given["role"] = "user"
    return given | changes


@pytest.mark.parametrize("name", list(ToolName))
def test_a_tool_takes_what_it_says_it_takes(name: ToolName) -> None:
    fields = MODELS[name].model_fields

    assert set(TAKEN[name]["properties"]) == set(fields)
    assert TAKEN[name]["required"] == [n for n, field in fields.items() if field.is_required()]
    MODELS[name].model_validate(arguments(name, other=1))


@pytest.mark.parametrize(("name", "field", "schema"), CASES, ids=lambda value: str(value)[:20])
def test_the_bounds_that_are_told_are_those_that_are_kept(
    name: ToolName, field: str, schema: Mapping[str, Any]
) -> None:
    good: list[Any] = list(schema.get("enum", ()))
    bad: list[Any] = ["nobody"] if good else []
    if schema["type"] == "string" and "maxLength" in schema:
        good, bad = ["x" * schema["maxLength"]], ["x" * (schema["maxLength"] + 1), 7]
    if schema["type"] == "integer":
        most = schema.get("maximum", 10**6)
        good, bad = [schema["minimum"], most], [schema["minimum"] - 1, "5", 1.5]
        bad += [most + 1] if "maximum" in schema else []

    for value in good:
        MODELS[name].model_validate(arguments(name, **{field: value}))
    for value in bad:
        with pytest.raises(ValidationError):
            MODELS[name].model_validate(arguments(name, **{field: value}))


@pytest.mark.parametrize("name", list(ToolName))
@pytest.mark.parametrize("blank", ["", " ", None])
def test_nobody_is_not_everybody(name: ToolName, blank: str | None) -> None:
    with pytest.raises(ValidationError, match="user_id"):
        MODELS[name].model_validate(arguments(name, user_id=blank))


def test_there_are_exactly_three_tools_and_one_of_them_writes() -> None:
    assert [tool.name.value for tool in TOOLS] == [
        "record_turn",
        "build_context",
        "search_memories",
    ]
    assert [tool.name.value for tool in TOOLS if tool.writes] == ["record_turn"]
