from pathlib import Path

import pytest

from agentengine_cli.control.files import write_json
from agentengine_cli.errors import WrongUsage
from agentengine_cli.target import (
    ContextNotFound,
    IncompleteTarget,
    LocalStack,
    NoTarget,
    Origin,
    SavedContext,
    TargetOptions,
    is_local,
    pinned_context,
    resolve,
    saved_contexts,
)

STAGING = SavedContext(
    id="ctx_1", name="staging", base_url="https://ae.example", org_id="o", project_id="p"
)
LOCAL = LocalStack(url="http://127.0.0.1:8080")
COMPLETE = TargetOptions(base_url="https://ae.example", org_id="o", project_id="p")


def test_context_is_found_by_its_display_name() -> None:
    target = resolve(TargetOptions(context="staging"), command="status", contexts=[STAGING])

    assert (target.origin, target.project_id) == (Origin.CONTEXT, "p")


@pytest.mark.parametrize(
    ("saved", "hint"),
    [([STAGING], "Saved are: staging"), ([], "agentengine status --base-url BASE_URL")],
)
def test_unknown_context_is_told_with_what_there_is(saved: list[SavedContext], hint: str) -> None:
    with pytest.raises(ContextNotFound, match='context "foo" not found') as refused:
        resolve(TargetOptions(context="foo"), command="status", contexts=saved)

    assert hint in str(refused.value.hint)


def test_context_id_is_refused_and_the_name_to_use_is_said() -> None:
    with pytest.raises(ContextNotFound, match='context "ctx_1" not found') as refused:
        resolve(TargetOptions(context="ctx_1"), command="memory status", contexts=[STAGING])

    assert "agentengine memory status --context staging" in str(refused.value.hint)


@pytest.mark.parametrize(
    "options",
    [
        pytest.param(TargetOptions(project_id="p"), id="project alone"),
        pytest.param(TargetOptions(org_id="o", project_id="p"), id="no base url"),
        pytest.param(TargetOptions(base_url="u", project_id="p"), id="no organization"),
    ],
)
def test_incomplete_ids_are_refused_with_the_full_command(options: TargetOptions) -> None:
    with pytest.raises(IncompleteTarget, match="incomplete explicit target") as refused:
        resolve(options, command="memory apply", local=LOCAL)

    assert refused.value.hint is not None
    assert refused.value.hint.startswith("agentengine memory apply --base-url")
    assert "--project-id p" in refused.value.hint


def test_workspace_id_is_part_of_the_set_where_a_workspace_is_needed() -> None:
    with pytest.raises(IncompleteTarget, match="--workspace-id missing"):
        resolve(COMPLETE, command="invoke", needs_workspace=True)


def test_context_and_ids_exclude_each_other() -> None:
    options = TargetOptions(context="staging", project_id="p")

    with pytest.raises(WrongUsage, match="exclude each other"):
        resolve(options, command="status", contexts=[STAGING])


def test_ids_win_over_the_pin_and_the_pin_over_the_local_stack() -> None:
    by_ids = resolve(COMPLETE, command="status", pinned="ctx_1", contexts=[STAGING], local=LOCAL)
    by_pin = resolve(
        TargetOptions(), command="status", pinned="ctx_1", contexts=[STAGING], local=LOCAL
    )

    assert (by_ids.origin, by_pin.origin) == (Origin.EXPLICIT, Origin.PIN)


def test_pin_to_a_deleted_context_is_an_error_and_nothing_else_is_used() -> None:
    with pytest.raises(ContextNotFound, match="does not exist any more"):
        resolve(TargetOptions(), command="status", pinned="ctx_9", local=LOCAL)


def test_local_stack_is_the_last_resort() -> None:
    target = resolve(TargetOptions(), command="status", local=LOCAL)

    assert (target.origin, target.project_id) == (Origin.LOCAL_STACK, "local")


def test_without_anything_there_is_no_default_project() -> None:
    with pytest.raises(NoTarget):
        resolve(TargetOptions(), command="status")


def test_another_project_is_not_the_local_stack() -> None:
    assert not is_local(resolve(COMPLETE, command="memory apply"), LOCAL)


def test_explicit_ids_may_name_the_local_stack() -> None:
    options = TargetOptions(base_url="http://127.0.0.1:8080/", org_id="local", project_id="local")

    assert is_local(resolve(options, command="memory apply"), LOCAL)


def test_saved_contexts_are_read_from_the_home_directory(tmp_path: Path) -> None:
    (tmp_path / ".agentengine").mkdir()
    entry = {"id": "ctx_1", "name": "n", "base_url": "u", "org_id": "o", "project_id": "p"}
    write_json(tmp_path / ".agentengine" / "contexts.json", {"contexts": [entry]})

    assert [context.name for context in saved_contexts(tmp_path)] == ["n"]
    assert saved_contexts(tmp_path / "nowhere") == []


def test_pin_is_read_from_the_nearest_agent_directory(tmp_path: Path) -> None:
    agent = tmp_path / "agents" / "a"
    (agent / ".agentengine").mkdir(parents=True)
    (agent / "agent.yaml").touch()
    write_json(agent / ".agentengine" / "state.json", {"context_id": "ctx_1"})

    assert pinned_context(agent) == "ctx_1"
    assert pinned_context(tmp_path) is None
