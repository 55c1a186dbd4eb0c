"""Every request that the official Python SDK can make, by its own signatures.

Each public method is called with what it needs, with each of its options alone, and with all of
them: the server takes every one. A method that a later SDK adds has to be given its values here.
"""

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from agent_engine_sdk_memory import (
    Memory,
    MemoryRequestContext,
    MemorySource,
    RetrievalMode,
    SourceSpec,
)
from agent_engine_sdk_memory._client import MemoryClient

from memory_server.api.families import DIRECT, FLAT
from memory_server.providers.system import SystemClock
from tests.unit.memory_server.api.application import OWNER_TOKEN, an_application
from tests.unit.memory_server.api.application import PROJECT as SHOP
from tests.wire.conftest import MakeHome, Served, serving

BEARER = {"Authorization": f"Bearer {OWNER_TOKEN}"}
TIER = {"metadata.tier": "gold"}
VALUES: dict[str, Any] = {
    "role": "assistant",
    "content": "drain the pump",
    "text": "drain the pump",
    "query": "pump",
    "label": "pump",
    "title": "The pump",
    "summary": "drained",
    "summary_text": "drained",
    "domain": "plumbing",
    "term": "pump",
    "definition": "moves water",
    "related_terms": ["siphon"],
    "procedure": "drain",
    "procedure_name": "drain",
    "description": "how to drain it",
    "steps": [{"step_type": "instruction", "description": "open", "content": "the valve"}],
    "resources": [{"uri": "file:///manual"}],
    "allowed_tools": ["wrench"],
    "compatibility": "any",
    "license": "none",
    "trigger_conditions": ["a flood"],
    "participants": ["ana"],
    "extraction_source": "manual",
    "source_format": "markdown",
    "source_path": "pump.md",
    "user_id": "ana",
    "agent_id": "plumber",
    "session_id": "monday",
    "thread_id": "monday",
    "org_id": "acme",
    "project_id": SHOP,
    "visibility": "org",
    "metadata": {"tier": "gold", "deep": {"a": [1, None]}},
    "metadata_filter": TIER,
    "contextual_metadata": {"why": ["because"]},
    "tags": ["wet"],
    "tokens": 3,
    "stop_reason": "end",
    "model_name": "m",
    "tool_calls": [{"id": "1", "name": "f", "args": {"x": 1}}],
    "tool_call_id": "1",
    "tool_name": "f",
    "is_error": True,
    "idempotency_key": "once",
    "source": "user",
    "embedding": [0.1, 0.2],
    "upsert": True,
    "query_expansion": True,
    "include_deleted": True,
    "soft": True,
    "limit": 1000,
    "top_k": 7,
    "similarity_threshold": 0.5,
    "max_tokens": 900,
    "include_memories": True,
    "rerank": True,
    "format_style": "openai",
    "enabled_sources": {"stm", "semantic", "episodic", "taxonomic", "procedural"},
    "sources": [
        SourceSpec(
            source=MemorySource.SEMANTIC,
            mode=RetrievalMode.HYBRID,
            metadata_filter=TIER,
            top_k=200,
        ),
        SourceSpec(source=MemorySource.STM, mode=RetrievalMode.TEXT),
    ],
    "memory_type": "ticket",
}
OF_METHODS: dict[str, dict[str, Any]] = {
    "search": {"sources": ["semantic", "procedural"]},
    "save": {"tags": {"plant": "north"}},
    "retrieve": {"tags": {"plant": "north"}},
    "create_custom": {"tags": {"plant": "north"}},
    "retrieve_custom": {"tags": {"plant": "north"}},
}
"""Values that mean something else to one method than to the others."""
NEEDED_TOO = {
    "record_turn": {"content", "session_id"},
    "write_turn": {"content"},
    "get_semantic": {"label"},
    "get_taxonomic": {"domain"},
    "get_procedural": {"procedure"},
    "update_procedural": {"procedure", "user_id"},
    "delete_procedural": {"procedure", "user_id"},
    "build_context_from_sources": {"session_id"},
    "build_context2": {"session_id"},
}
"""What a method needs although its signature does not say so."""
NEVER = {"id", "update_existing", "kwargs"}
"""Stands for a name that is given; refused by the SDK; not an option of its own."""
NO_REQUESTS = {"bind", "close", "bootstrap"}


def methods(kind: type) -> list[str]:
    found = inspect.getmembers(kind, inspect.isfunction)
    return [name for name, _ in found if not name.startswith("_") and name not in NO_REQUESTS]


def calls(kind: type, name: str) -> Iterator[dict[str, Any]]:
    """Yield the arguments of every call: what is needed, each option, and all of them."""
    known = VALUES | OF_METHODS.get(name, {})
    parameters = inspect.signature(getattr(kind, name)).parameters
    names = [one for one in parameters if one != "self" and one not in NEVER]
    always = NEEDED_TOO.get(name, set())
    needed = {one for one in names if parameters[one].default is inspect.Parameter.empty} | always
    options = [one for one in names if one not in needed]
    base = {one: known[one] for one in names if one in needed}
    yield base
    yield base | {one: known[one] for one in options}
    for option in options:
        yield base | {option: known[option]}
        if "None" in str(parameters[option].annotation):
            yield base | {option: None}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, a_home: MakeHome) -> Iterator[Served]:
    """A server with every index and a declared type, so that all options mean something."""
    directory: Path = tmp_path_factory.mktemp("sdk")
    kinds = ("short_term", "semantic", "episodic", "taxonomic", "procedural")
    clock = SystemClock()
    with a_home() as home:
        application = an_application(
            directory,
            clock,
            store=home.store(clock),
            extraction={"enabled": []},
            metadata_partition_index={kind: ["both"] for kind in kinds},
            custom_memory_types=[
                {"name": "ticket", "collection": "tickets", "tags": [{"name": "plant"}]}
            ],
        )
        with serving(application) as running:
            yield running


@pytest.fixture(scope="module", params=["flat", "project"])
def memory(server: Served, request: pytest.FixtureRequest) -> Iterator[Memory]:
    """The facade, bound to a user and a session."""
    hosted = {"project_id": SHOP, "service_account_token": OWNER_TOKEN}
    own = hosted if request.param == "project" else {}
    with Memory(base_url=server.url, **own) as handle:
        yield handle.bind(MemoryRequestContext(user_id="ana", session_id="monday"))


@pytest.fixture(scope="module", params=[FLAT, DIRECT])
def native(server: Served, request: pytest.FixtureRequest) -> Iterator[MemoryClient]:
    """The client of the agents' own runtime."""
    with MemoryClient(server.url, api_prefix=request.param, static_headers=BEARER) as client:
        client.create_semantic("pump", "a pump", "", "ana", "", upsert=True)
        client.create_procedural(
            procedure="drain", description="d", content="c", org_id="", user_id="ana", project_id=""
        )
        yield client


@pytest.mark.parametrize("name", methods(Memory))
def test_every_request_of_the_facade_is_taken(memory: Memory, name: str) -> None:
    method: Callable[..., Any] = getattr(memory, name)

    for arguments in calls(Memory, name):
        method(**arguments)


@pytest.mark.parametrize("name", methods(MemoryClient))
def test_every_request_of_the_native_client_is_taken(native: MemoryClient, name: str) -> None:
    method: Callable[..., Any] = getattr(native, name)

    for arguments in calls(MemoryClient, name):
        if name == "delete_procedural":
            native.create_procedural(
                procedure="drain",
                description="d",
                content="c",
                org_id="",
                user_id="ana",
                project_id="",
                visibility=arguments.get("visibility") or "private",
            )
        method(**arguments)


@pytest.mark.parametrize("style", ["openai", "claude", "jinja2"])
def test_every_style_is_taken(memory: Memory, style: str) -> None:
    assert memory.build_context("pump", format_style=style).metadata is not None
