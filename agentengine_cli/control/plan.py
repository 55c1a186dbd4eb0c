"""Decides what an apply has to do, before anything is touched."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentengine_cli.control import readiness
from agentengine_cli.control.status import State, Status
from agentengine_cli.errors import CliError
from memory_server import project_config

LOCAL_MODELS: Mapping[str, Any] = {
    "embedding": {"provider": "local"},
    "extraction_llm": {"provider": "local"},
}


class EmbeddingSpaceChanged(CliError):
    """The vectors in the store were made by another model."""


class UpgradeRefused(CliError):
    """The installed version is not known to be newer than the running one."""


_WORDS = {
    State.STOPPED: "is stopped",
    State.CRASHED: "crashed",
    State.NOT_PROVISIONED: "was never started",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyRequest:
    """What the caller of an apply asked for."""

    wait: bool = False
    force: bool = False
    upgrade: bool = False
    local_models: bool = False
    port: int | None = None
    dry_run: bool = False
    reembed: bool = False
    """Have all vectors made anew if the embedding model is another one."""
    wait_seconds: float = 300.0
    """How long `wait` waits for readiness."""


@dataclass(frozen=True, slots=True)
class Applied:
    """What an apply did, or, in a dry run, would do."""

    status: Status
    reasons: Sequence[str]
    """Why the server was started; empty: it was left alone."""
    notes: Sequence[str] = ()
    warnings: Sequence[str] = ()
    """What is to be said of the store that is served from now on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the server should run with."""

    digest: str
    local_models: bool
    environment_digest: str
    port: int | None
    """None: whichever it has."""
    version: str
    """The installed one."""


def reasons_to_start(status: Status, wanted: Wanted, request: ApplyRequest) -> Sequence[str]:
    """Return why the server must be started or restarted; empty when it may stay as it is."""
    record = status.record
    if record is None or not status.state.is_running:
        return (f"the server {_WORDS[status.state]}",)
    running = status.body.get("version")
    conditions = (
        (record.config_digest != wanted.digest, "the stored configuration is not applied yet"),
        (record.local_models and not wanted.local_models, "the configured providers take over"),
        (wanted.local_models and not record.local_models, "the built-in models take over"),
        (
            record.environment_digest != wanted.environment_digest,
            "a secret, an .env value or agent.yaml changed since the server started",
        ),
        (wanted.port not in {None, record.port}, f"the port changes to {wanted.port}"),
        (request.upgrade and running != wanted.version, f"{running} becomes {wanted.version}"),
        (request.force, "--force"),
    )
    return tuple(reason for holds, reason in conditions if holds)


def check_upgrade(running: str | None, installed: str, *, force: bool) -> None:
    """Raise `UpgradeRefused` unless the installed version is forward of the running one."""
    if running is None or running == installed or force or _is_forward(running, installed):
        return
    raise UpgradeRefused(
        f"The running server is {running} and the installed one {installed}, which cannot be shown "
        "to be newer. Nothing was changed",
        hint="Install a newer version, or insist: agentengine memory apply --upgrade --force",
    )


def _is_forward(running: str, installed: str) -> bool:
    try:
        return tuple(map(int, installed.split("."))) > tuple(map(int, running.split(".")))
    except ValueError:
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Vectors:
    """The vectors of a store; spaces are named as `bge-small-en-v1.5@384`."""

    space: str
    """Of those that answer."""
    target: str | None = None
    """Of those that are being made, if any are."""
    count: int | None = None
    """None: nobody knows how many there are."""


def vectors_told(body: Mapping[str, Any], space: str) -> Vectors:
    """Return what a readiness document says of the vectors; `space` is the configured one."""
    told = readiness.reembedding(body)
    return Vectors(
        space=str(told.get("from") or space),
        target=told.get("to") if told.get("state") == "running" else None,
        count=readiness.vectors(body),
    )


def check_embedding_space(vectors: Vectors, wanted: str) -> None:
    """Raise `EmbeddingSpaceChanged` when vectors of the wanted space would not fit the stored."""
    if vectors.count == 0 or wanted in {vectors.space, vectors.target}:
        return
    raise EmbeddingSpaceChanged(
        f"Nothing was changed: the embedding model would change, {vectors.space} -> {wanted}, and "
        "vectors of different models cannot be compared",
        hint="Have the vectors made anew while the present ones answer: agentengine memory "
        "reembed; or keep the model the store was built with",
    )


def space_changes(vectors: Vectors, wanted: str) -> Sequence[str]:
    """Return what becomes of the vectors of a store if a model of the wanted space is to answer."""
    if vectors.count == 0:
        return ()
    conditions = (
        (
            vectors.target is not None and wanted != vectors.target,
            f"the re-embedding to {vectors.target} is given up",
        ),
        (
            wanted not in {vectors.space, vectors.target},
            f"{'all' if vectors.count is None else vectors.count} vectors are made anew in the "
            f"background: {vectors.space} -> {wanted}",
        ),
    )
    return tuple(change for holds, change in conditions if holds)


def space_of(document: Mapping[str, Any], *, local_models: bool) -> str:
    """Return the embedding space of a `memory:` document, as the server will see it."""
    return project_config.embedding_of(effective(document, local_models=local_models)).space


def effective(document: Mapping[str, Any], *, local_models: bool) -> dict[str, Any]:
    """Return the document with the providers the server will really use."""
    if not local_models:
        return dict(document)
    return {**{k: v for k, v in document.items() if k != "voyage"}, **LOCAL_MODELS}
