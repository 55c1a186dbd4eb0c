import json
from pathlib import Path

import pytest

from memory_server import settings
from memory_server.errors import InvalidProjectConfig


def test_with_nothing_given_the_built_in_models_and_every_type_serve() -> None:
    found = settings.from_environment({})

    assert (found.memory.embedding.provider, found.memory.extraction_llm.provider) == (
        "local",
        "local",
    )
    assert set(found.memory.enabled) == {"semantic", "episodic", "taxonomic", "procedural"}
    assert (found.project_id, found.org_id) == ("local", "local")


@pytest.mark.parametrize(
    ("listed", "enabled"),
    [("", []), ("semantic", ["semantic"]), (" semantic , episodic ,", ["semantic", "episodic"])],
)
def test_delivered_list_of_types_decides(listed: str, enabled: list[str]) -> None:
    found = settings.from_environment({"MONGOMEM_ENABLED_EXTRACTIONS": listed})

    assert list(found.memory.enabled) == enabled


def test_delivered_list_of_types_leaves_the_rest_of_extraction_as_it_is(tmp_path: Path) -> None:
    delivered = tmp_path / "delivered.json"
    delivered.write_text(json.dumps({"extraction": {"enabled": [], "approval": "manual"}}))

    found = settings.from_environment(
        {
            "AGENTENGINE_MEMORY_CONFIG": str(delivered),
            "MONGOMEM_ENABLED_EXTRACTIONS": "semantic",
        }
    )

    assert (list(found.memory.enabled), found.memory.approval) == (["semantic"], "manual")


def test_delivered_configuration_is_read(tmp_path: Path) -> None:
    delivered = tmp_path / "delivered.json"
    delivered.write_text(json.dumps({"log_level": "debug", "extraction": {"enabled": []}}))

    found = settings.from_environment({"AGENTENGINE_MEMORY_CONFIG": str(delivered)})

    assert (found.memory.log_level, list(found.memory.enabled)) == ("debug", [])


@pytest.mark.parametrize("text", ["", "{", "[]"])
def test_unreadable_configuration_is_named(tmp_path: Path, text: str) -> None:
    delivered = tmp_path / "delivered.json"
    delivered.write_text(text)

    with pytest.raises(InvalidProjectConfig, match=r"delivered\.json"):
        settings.from_environment({"AGENTENGINE_MEMORY_CONFIG": str(delivered)})


@pytest.mark.parametrize(
    ("given", "served"), [(None, True), ("1", True), (" ", True), ("0", False)]
)
def test_declared_types_are_served_unless_they_are_switched_off(
    given: str | None, served: bool
) -> None:
    environ = {} if given is None else {"AGENTENGINE_CUSTOM_MEMORY_TYPES": given}

    assert settings.from_environment(environ).custom_memory_types is served


def test_a_switch_is_on_or_off() -> None:
    with pytest.raises(InvalidProjectConfig, match="AGENTENGINE_CUSTOM_MEMORY_TYPES: expected 1"):
        settings.from_environment({"AGENTENGINE_CUSTOM_MEMORY_TYPES": "off"})


def test_keys_are_taken_and_shown_to_nobody() -> None:
    found = settings.from_environment({"VOYAGE_API_KEY": "a-key", "LLM_API_KEY": "  "})

    assert dict(found.secrets) == {"VOYAGE_API_KEY": "a-key"}
    assert "a-key" not in repr(found)


def test_without_an_address_memory_is_kept_on_this_machine() -> None:
    assert settings.from_environment({"MONGODB_URI": " ", "MONGOMEM_DB_NAME": "x"}).mongodb is None


def test_a_deployment_is_taken_with_what_names_its_database_and_is_shown_to_nobody() -> None:
    uri = "mongodb://user:password@h"
    given = {"MONGODB_URI": uri, "MONGOMEM_DB_NAME": "mem", "PROJECT_ID": "shop"}

    found = settings.from_environment(given)

    assert found.mongodb == settings.MongoSettings(uri=uri, base="mem", project_id="shop")
    assert "password" not in repr(found)


def test_a_deployment_without_a_project_is_used_unscoped_unless_that_is_forbidden() -> None:
    given = {"MONGODB_URI": "mongodb://h"}

    found = settings.from_environment(given).mongodb

    assert found is not None
    assert (found.base, found.project_id) == (None, "")
    for switch in ("1", "true", "YES", "on"):
        with pytest.raises(InvalidProjectConfig, match="PROJECT_ID is not set"):
            settings.from_environment({**given, "REQUIRE_PROJECT_SCOPED_DB": switch})
        scoped = {**given, "REQUIRE_PROJECT_SCOPED_DB": switch, "PROJECT_ID": "shop"}
        assert settings.from_environment(scoped).mongodb is not None


def test_an_address_that_cannot_be_used_is_refused_without_being_shown() -> None:
    with pytest.raises(InvalidProjectConfig, match="MONGODB_URI cannot be used") as caught:
        settings.from_environment({"MONGODB_URI": "user:password@h"})

    assert "password" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "rate"), [(None, None), ("50", 50), (" 0.5 ", 0.5), ("off", 0), ("OFF", 0)]
)
def test_the_rate_of_writes_is_a_number_or_off(given: str | None, rate: float | None) -> None:
    environ = {} if given is None else {"AGENTENGINE_RATE_LIMIT": given}

    assert settings.from_environment(environ).writes_a_second == rate


@pytest.mark.parametrize("given", ["0", "-1", "many", "nan", "inf", "10/s"])
def test_a_rate_that_is_none_is_refused(given: str) -> None:
    with pytest.raises(InvalidProjectConfig, match=r"AGENTENGINE_RATE_LIMIT: .* or off"):
        settings.from_environment({"AGENTENGINE_RATE_LIMIT": given})


def test_web_pages_that_may_use_the_tools_are_listed_by_spaces() -> None:
    environ = {"AGENTENGINE_ALLOWED_ORIGINS": " https://a.example  https://b.example:8443 "}

    allowed = settings.from_environment(environ).allowed_origins

    assert allowed == ("https://a.example", "https://b.example:8443")


def test_trusted_proxies_are_addresses_and_networks() -> None:
    environ = {"AGENTENGINE_TRUSTED_PROXIES": "127.0.0.1, 10.0.0.0/8 ::1"}

    trusted = settings.from_environment(environ).trusted_proxies

    assert trusted == ("127.0.0.1/32", "10.0.0.0/8", "::1/128")
    assert settings.from_environment({}).trusted_proxies == ()


@pytest.mark.parametrize("given", ["*", "localhost", "10.0.0.1/8", "127.0.0.1;::1"])
def test_a_proxy_without_an_address_is_not_trusted(given: str) -> None:
    with pytest.raises(InvalidProjectConfig, match="AGENTENGINE_TRUSTED_PROXIES"):
        settings.from_environment({"AGENTENGINE_TRUSTED_PROXIES": given})


@pytest.mark.parametrize(("given", "megabytes"), [(None, 256), ("1", 1), ("2048", 2048)])
def test_the_memory_of_the_index_is_given_in_megabytes(given: str | None, megabytes: int) -> None:
    environ = {} if given is None else {"AGENTENGINE_INDEX_MEMORY_MB": given}

    assert settings.from_environment(environ).index_memory_bytes == megabytes * 2**20


@pytest.mark.parametrize("given", ["0", "-1", "1.5", "256M", "1048577", "٣"])
def test_what_is_no_number_of_megabytes_is_refused(given: str) -> None:
    with pytest.raises(InvalidProjectConfig, match=r"AGENTENGINE_INDEX_MEMORY_MB: .* as 256"):
        settings.from_environment({"AGENTENGINE_INDEX_MEMORY_MB": given})


SHARED = {"MONGODB_URI": "mongodb://localhost"}


def test_a_server_does_everything_alone_unless_it_is_told_otherwise() -> None:
    alone = settings.from_environment({})

    assert (alone.role, alone.workers, alone.drain_seconds) == (settings.ServerRole.ALL, 1, 0)


def test_servers_that_share_a_database_have_roles_and_processes() -> None:
    told = {"AGENTENGINE_ROLE": "Worker", "AGENTENGINE_WORKERS": "3"}

    found = settings.from_environment({**SHARED, **told, "AGENTENGINE_DRAIN_SECONDS": "2.5"})

    assert (found.role, found.workers) == (settings.ServerRole.WORKER, 3)
    assert found.drain_seconds == 2.5


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("AGENTENGINE_ROLE", "boss", "expected all, api, worker, not 'boss'"),
        ("AGENTENGINE_WORKERS", "0", "1 to 64"),
        ("AGENTENGINE_WORKERS", "many", "1 to 64"),
        ("AGENTENGINE_WORKERS", "٣", "1 to 64"),
        ("AGENTENGINE_DRAIN_SECONDS", "-1", "0 to 300"),
        ("AGENTENGINE_DRAIN_SECONDS", "nan", "0 to 300"),
    ],
)
def test_what_no_server_can_be_told_is_refused(name: str, value: str, told: str) -> None:
    with pytest.raises(InvalidProjectConfig, match=f"{name}.*{told}"):
        settings.from_environment({**SHARED, name: value})


@pytest.mark.parametrize(
    ("name", "value"), [("AGENTENGINE_ROLE", "api"), ("AGENTENGINE_WORKERS", "2")]
)
def test_what_needs_a_shared_database_is_refused_without_one(name: str, value: str) -> None:
    with pytest.raises(InvalidProjectConfig, match=f"{name}.*SQLite.*MONGODB_URI"):
        settings.from_environment({name: value})
