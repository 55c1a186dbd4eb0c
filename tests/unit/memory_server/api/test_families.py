from memory_server.api.families import DIRECT, FAMILIES, FLAT, PROJECT
from memory_server.app import create_app
from memory_server.application import Application

SUB_PATHS = {
    "/turns": {"post"},
    "/stm/turns": {"post"},
    "/context": {"post"},
    "/retrieval/context": {"post"},
    "/retrieval/context-from-sources": {"post"},
    "/search": {"post"},
    "/turns/search": {"post"},
    "/retrieval/semantic": {"post"},
    "/retrieval/episodic": {"post"},
    "/retrieval/taxonomic": {"post"},
    "/retrieval/procedural": {"post"},
    "/blocks": {"get", "post"},
    "/blocks/{block_id}": {"get"},
    "/blocks/search": {"post"},
    "/semantic": {"get", "post"},
    "/semantic/{memory_id}": {"get", "patch"},
    "/episodic": {"get", "post"},
    "/taxonomic": {"get", "post"},
    "/taxonomic/domains": {"get"},
    "/procedural": {"get", "post"},
    "/procedural/{memory_id}": {"get", "patch", "delete"},
    "/types/{type_name}": {"post"},
    "/types/{type_name}/retrieve": {"post"},
    "/worker/queueStats": {"get"},
    "/queueStats": {"get"},
}


def test_every_memory_route_stands_under_all_three_prefixes(application: Application) -> None:
    paths = create_app(application).openapi()["paths"]

    for prefix in FAMILIES:
        served = {path: set(paths.get(prefix + path, ())) for path in SUB_PATHS}
        assert served == SUB_PATHS


def test_the_prefixes_are_those_that_clients_build() -> None:
    assert (FLAT, PROJECT, DIRECT) == (
        "/api/v1/memory",
        "/api/v1/projects/{project_id}/memory",
        "/api/v1",
    )
