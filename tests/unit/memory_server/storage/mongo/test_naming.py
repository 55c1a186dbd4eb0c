import pytest

from memory_server.errors import InvalidProjectConfig
from memory_server.storage.mongo.naming import candidates, database_name

SCOPED, LEGACY_SCOPED, LEGACY = "mdb_memory_shop", "agentic_memory_shop", "agentic_memory"


@pytest.mark.parametrize(
    ("base", "project", "existing", "name"),
    [
        ("mdb_memory", "", [], "mdb_memory"),
        ("mdb_memory", "", [SCOPED, LEGACY_SCOPED, LEGACY], "mdb_memory"),
        ("memory_shop", "shop", [], "memory_shop"),
        ("memory_shop", "shop", ["memory_shop_shop", LEGACY_SCOPED, LEGACY], "memory_shop"),
        ("memory-shop", "shop", [], "memory-shop_shop"),
        ("shop", "shop", [], "shop_shop"),
        ("mdb_memory", "shop", [], SCOPED),
        ("mdb_memory", "shop", ["admin", "local"], SCOPED),
        ("mdb_memory", "shop", [SCOPED], SCOPED),
        ("mdb_memory", "shop", [LEGACY, LEGACY_SCOPED, SCOPED], SCOPED),
        ("mdb_memory", "shop", [LEGACY, LEGACY_SCOPED], LEGACY_SCOPED),
        ("mdb_memory", "shop", [LEGACY], LEGACY),
        ("mdb_memory", "shop", ["mdb_memory", "agentic_memory_bank"], SCOPED),
        ("agentic_memory", "shop", [LEGACY], LEGACY),
        ("agentic_memory", "shop", [LEGACY, LEGACY_SCOPED], LEGACY_SCOPED),
        ("agentic_memory", "shop", [], LEGACY_SCOPED),
        ("own", "shop", ["own_bank"], "own_shop"),
        ("own", "shop", ["own"], "own_shop"),
        ("own", "shop", ["own_shop", LEGACY], "own_shop"),
        ("own", "shop", [LEGACY], LEGACY),
    ],
)
def test_the_name_comes_from_the_base_the_project_and_what_is_there(
    base: str, project: str, existing: list[str], name: str
) -> None:
    assert database_name(base, project, existing) == name


@pytest.mark.parametrize(("base", "project"), [("mdb_memory", ""), ("memory_shop", "shop")])
def test_a_name_that_is_given_whole_needs_no_list_of_databases(base: str, project: str) -> None:
    assert candidates(base, project) == [base]


@pytest.mark.parametrize(
    ("base", "project"),
    [("a.b", ""), ("a b", "shop"), ("x" * 60, "shop"), ("mdb", "a/b"), ("mdb", "$x"), ("", "")],
)
def test_a_name_that_no_database_can_have_is_refused_with_what_to_set(
    base: str, project: str
) -> None:
    with pytest.raises(InvalidProjectConfig, match="MONGOMEM_DB_NAME and PROJECT_ID"):
        database_name(base, project, [])
