"""A small server that speaks the routes the command line uses and remembers what it was told."""

import json
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

OWNER_TOKEN = "owner-token-of-the-tests"
SECRET = "ae_sa_sk_0123456789abcdef"
CLIENT_ID = "ae_sa_id_1"
PROJECT = "/api/v1/projects/local"


@dataclass
class StandIn:
    """What was asked of the server, and what it will answer."""

    url: str = ""
    turns: list[dict[str, Any]] = field(default_factory=list)
    keys: dict[str, dict[str, Any]] = field(default_factory=dict)
    memories: list[dict[str, Any]] = field(default_factory=list)
    traces: str = "none"
    """What is left on the disk after an erasure."""
    jobs: list[dict[str, Any]] = field(default_factory=list)
    after_flush: list[dict[str, Any]] = field(default_factory=list)
    own_jobs: int | None = None
    proposals: list[dict[str, Any]] = field(default_factory=list)
    spending: dict[str, Any] = field(default_factory=dict)
    circuit: dict[str, Any] = field(default_factory=dict)
    promotes_for_ever: bool = False
    accounts: dict[str, dict[str, Any]] = field(default_factory=dict)
    seen: list[tuple[str, str, str | None]] = field(default_factory=list)
    bodies: list[Any] = field(default_factory=list)
    refuse: Callable[[dict[str, Any]], Response | None] = lambda turn: None
    warnings: list[str] = field(default_factory=list)
    frames: list[dict[str, Any]] | None = None
    expired: set[str] = field(default_factory=set)
    tokens: int = 0
    says_duplicate: bool = True
    knows_logins: bool = True
    state: str = "ready"
    blocked_on: list[str] = field(default_factory=list)
    applies_for_ever: bool = False
    config_errors: list[dict[str, Any]] = field(default_factory=list)

    def paths(self) -> list[str]:
        return [f"{method} {path}" for method, path, _ in self.seen]


def failure(status: int, code: str, text: str, **more: Any) -> JSONResponse:
    return JSONResponse(
        {"code": code, "error": text, "detail": text, "request_id": "r1", **more}, status
    )


Handler = Callable[[Request], Awaitable[Response]]


@dataclass
class _Routes:
    """One method a route."""

    state: StandIn

    async def record(self, request: Request) -> Response:
        turn = await request.json()
        refused = self.state.refuse(turn)
        if refused is not None:
            return refused
        known = self.state.keys.get(turn["idempotency_key"])
        if known is not None:
            return JSONResponse({**known, "duplicate": True}, 201)
        says = {"duplicate": False} if self.state.says_duplicate else {}
        self.state.turns.append(turn)
        receipt = {
            "id": f"t{len(self.state.turns)}",
            "session_id": turn["session_id"],
            "turn_seq": sum(t["session_id"] == turn["session_id"] for t in self.state.turns),
            "acknowledged": True,
            "has_embedding": False,
            **says,
        }
        self.state.keys[turn["idempotency_key"]] = receipt
        return JSONResponse(receipt, 201)

    async def memory(self, request: Request) -> Response:
        memory_id = request.path_params["memory_id"]
        found = next((m for m in self.state.memories if m["id"] == memory_id), None)
        if found is None:
            return failure(404, "MEMORY_NOT_FOUND", f"no memory has the id {memory_id!r}")
        return JSONResponse(found)

    async def memories(self, request: Request) -> Response:
        wanted = request.query_params
        found = [m for m in self.state.memories if m["user_id"] == wanted["user_id"]]
        if "type" in wanted:
            found = [m for m in found if m["type"] == wanted["type"]]
        return JSONResponse({"memories": found})

    async def search(self, _: Request) -> Response:
        return JSONResponse({"memories": []})

    async def proposals(self, _: Request) -> Response:
        return JSONResponse({"proposals": self.state.proposals, "next": None, "failed": []})

    async def flush(self, request: Request) -> Response:
        self.state.bodies.append(await request.json())
        if self.state.promotes_for_ever:
            await request.receive()  # until the client has gone
        self.state.jobs += self.state.after_flush
        jobs = len(self.state.after_flush) if self.state.own_jobs is None else self.state.own_jobs
        return JSONResponse({"snapshots": 1, "jobs": jobs})

    async def jobs(self, request: Request) -> Response:
        wanted = request.query_params.get("state")
        found = [job for job in self.state.jobs if wanted in (None, job["state"])]
        states = ("queued", "running", "failed", "done")
        counts = {s: sum(job["state"] == s for job in self.state.jobs) for s in states}
        return JSONResponse({"jobs": found, "counts": counts, "spending": self.state.spending})

    async def ready(self, _: Request) -> Response:
        return JSONResponse({"extraction": {"circuit": self.state.circuit}})

    async def retry_failed(self, _: Request) -> Response:
        failed = [job for job in self.state.jobs if job["state"] == "failed"]
        for job in failed:
            job["state"] = "queued"
        return JSONResponse({"retried": len(failed)})

    async def retry(self, request: Request) -> Response:
        for job in self.state.jobs:
            if job["id"] == request.path_params["id"]:
                job["state"] = "queued"
                return JSONResponse(job)
        return failure(404, "JOB_NOT_FOUND", "No job has that id.")

    async def erase(self, request: Request) -> Response:
        kept = [m for m in self.state.memories if m["user_id"] != request.query_params["user_id"]]
        gone, self.state.memories = len(self.state.memories) - len(kept), kept
        return JSONResponse({"deleted": {"memories": gone}, "traces": self.state.traces})

    async def token(self, request: Request) -> Response:
        form = await request.form()
        self.state.bodies.append(dict(form))
        if form["client_secret"] != SECRET:
            return failure(401, "NOT_AUTHENTICATED", "The secret is wrong", error="invalid_client")
        self.state.tokens += 1
        body = {
            "access_token": f"token-{self.state.tokens}",
            "token_type": "Bearer",
            "expires_in": 3600,
        }
        return JSONResponse(body)

    async def accounts(self, request: Request) -> Response:
        if request.method == "GET":
            return JSONResponse({"service_accounts": list(self.state.accounts.values())})
        body = await request.json()
        self.state.bodies.append(body)
        account = {"client_id": CLIENT_ID, "name": body["name"], "is_active": True}
        account["roles"] = body["roles"]
        self.state.accounts[CLIENT_ID] = account
        return JSONResponse({"client_secret": SECRET, "service_account": account}, 201)

    async def account(self, request: Request) -> Response:
        found = self.state.accounts.get(request.path_params["id"])
        if found is None:
            text = "No service account has that client id."
            return failure(404, "SERVICE_ACCOUNT_NOT_FOUND", text)
        if request.method == "DELETE":
            del self.state.accounts[found["client_id"]]
            return Response(status_code=204)
        return JSONResponse(found)

    async def rotate(self, request: Request) -> Response:
        found = self.state.accounts[request.path_params["id"]]
        return JSONResponse({"client_secret": SECRET, "service_account": found})

    async def addresses(self, request: Request) -> Response:
        body = await request.json()
        if "10.9.9.9" in body["ip_access_list"]:
            return failure(400, "INVALID_REQUEST", "That address is not taken")
        self.state.bodies.append(body)
        account = self.state.accounts[request.path_params["id"]]
        return JSONResponse({"service_account": account | body})

    async def invoke(self, request: Request) -> Response:
        bearer = request.headers["authorization"].removeprefix("Bearer ")
        if bearer in self.state.expired:
            return failure(401, "TOKEN_EXPIRED", "The bearer token has expired.")
        body = await request.json()
        self.state.bodies.append(body)
        rest = {
            "user_id": body.get("user_id"),
            "identity": {"kind": "owner", "user_id": body.get("user_id"), "overridden": False},
            "warnings": self.state.warnings,
        }
        if request.url.path.endswith("Stream"):
            return StreamingResponse(self.frames(rest), media_type="text/event-stream")
        whole = {"success": True, "response": f"You said {body['message']}", "execution_id": "e1"}
        answer = {**whole, "status": "completed", **rest}
        return JSONResponse(answer, headers={"X-Session-ID": body.get("session_id") or "made-up"})

    async def frames(self, rest: dict[str, Any]) -> AsyncIterator[str]:
        done = {"chunk_type": "done", "metadata": {"session_id": "made-up", **rest}}
        usual = [
            {"chunk_type": "step", "content": "searching"},
            {"chunk_type": "text", "content": "You said "},
            {"chunk_type": "text", "content": "it"},
            done,
        ]
        for frame in usual if self.state.frames is None else self.state.frames:
            yield f": keep alive\r\ndata: {json.dumps(frame)}\r\n\r\n"

    async def login(self, request: Request) -> Response:
        if not self.state.knows_logins:
            return failure(404, "ROUTE_NOT_FOUND", f"this server has no route {request.url.path}")
        return failure(401, "NOT_AUTHENTICATED", "the user name or the password is not valid")

    async def me(self, request: Request) -> Response:
        if request.headers.get("authorization") != f"Bearer {OWNER_TOKEN}":
            return failure(401, "NOT_AUTHENTICATED", "That is no token of this server")
        return JSONResponse({"kind": "owner", "id": "owner", "org_id": "local"})

    async def config(self, request: Request) -> Response:
        if request.method == "GET":
            running = {"digest": "d0", "since": "2026-01-01T00:00:00+00:00", "memory": {}}
            return JSONResponse({"stored": None, "running": running, "pending": False})
        self.state.bodies.append(await request.json())
        if self.state.config_errors:
            errors = self.state.config_errors
            return failure(422, "INVALID_PROJECT_CONFIG", "not valid", errors=errors)
        return JSONResponse({"digest": "d1", "pending": True, "warnings": self.state.warnings})

    async def apply(self, request: Request) -> Response:
        self.state.bodies.append(await request.json())
        if self.state.applies_for_ever:
            await request.receive()  # until the client has gone
        return JSONResponse({"applied": True, "digest": "d1", "changes": ["x"], "warnings": []})

    async def runtime(self, request: Request) -> Response:
        config = {"stored": None, "running": {"digest": "d0"}, "pending": False}
        body = {"state": self.state.state, "blocked_on": self.state.blocked_on, "config": config}
        return JSONResponse(body)

    def watched(self, path: str, handler: Handler, *methods: str) -> Route:
        async def handle(request: Request) -> Response:
            bearer = request.headers.get("authorization")
            self.state.seen.append((request.method, request.url.path, bearer))
            return await handler(request)

        return Route(path, handle, methods=list(methods))


def _app(state: StandIn) -> Starlette:
    routes = _Routes(state)
    accounts, account = f"{PROJECT}/service-accounts", f"{PROJECT}/service-accounts/{{id}}"
    workspace = f"{PROJECT}/workspaces/local"
    return Starlette(
        routes=[
            routes.watched(f"{PROJECT}/memory/search", routes.search, "POST"),
            routes.watched(f"{PROJECT}/memory/proposals", routes.proposals, "GET"),
            routes.watched(f"{PROJECT}/memory/proposals/reject", routes.proposals, "POST"),
            routes.watched("/ready", routes.ready, "GET"),
            routes.watched(f"{PROJECT}/memory/turns", routes.record, "POST"),
            routes.watched("/api/v1/admin/memories", routes.memories, "GET"),
            routes.watched("/api/v1/admin/memories/{memory_id}", routes.memory, "GET"),
            routes.watched("/api/v1/admin/flush", routes.flush, "POST"),
            routes.watched("/api/v1/admin/jobs", routes.jobs, "GET"),
            routes.watched("/api/v1/admin/jobs/retry", routes.retry_failed, "POST"),
            routes.watched("/api/v1/admin/jobs/{id}/retry", routes.retry, "POST"),
            routes.watched("/api/v1/admin/scope", routes.erase, "DELETE"),
            routes.watched("/api/v1/admin/config", routes.config, "GET", "PUT"),
            routes.watched("/api/v1/admin/apply", routes.apply, "POST"),
            routes.watched("/api/v1/admin/runtime", routes.runtime, "GET"),
            routes.watched("/api/v1/auth/login", routes.login, "POST"),
            routes.watched("/api/v1/auth/me", routes.me, "GET"),
            routes.watched("/api/v1/oauth/token", routes.token, "POST"),
            routes.watched(accounts, routes.accounts, "GET", "POST"),
            routes.watched(account, routes.account, "GET", "DELETE"),
            routes.watched(f"{account}/rotate", routes.rotate, "POST"),
            routes.watched(f"{account}/ip-access-list", routes.addresses, "PUT"),
            routes.watched(f"{workspace}/invoke", routes.invoke, "POST"),
            routes.watched(f"{workspace}/invokeStream", routes.invoke, "POST"),
        ]
    )


class _Server(uvicorn.Server):
    """Tells when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listens = threading.Event()

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        self.listens.set()


@contextmanager
def served(state: StandIn) -> Iterator[StandIn]:
    """Serve on a free loopback port, in a thread."""
    config = uvicorn.Config(_app(state), port=0, log_level="critical", ws="none", lifespan="off")
    server = _Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    assert server.listens.wait(10)
    port = server.servers[0].sockets[0].getsockname()[1]
    state.url = f"http://127.0.0.1:{port}"
    yield state
    server.should_exit = True
    thread.join(10)
