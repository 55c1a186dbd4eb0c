"""A server that the local commands manage is not managed over HTTP behind their back."""

import httpx

from tests.acceptance.conftest import Shell

LOUD = {
    "log_level": "debug",
    "embedding": {"provider": "local"},
    "extraction_llm": {"provider": "local"},
}


def test_server_of_a_local_stack_is_configured_by_its_commands_only(running: Shell) -> None:
    before = running.status()
    token = (running.directory / ".agentengine" / "owner-token").read_text().strip()
    with httpx.Client(
        base_url=before["url"], headers={"Authorization": f"Bearer {token}"}, trust_env=False
    ) as owner:
        stored = owner.put("/api/v1/admin/config", json={"memory": LOUD})
        applied = owner.post("/api/v1/admin/apply")
        secret = owner.put("/api/v1/projects/local/secrets/LLM_API_KEY", json={"value": "v"})
        shown = owner.get("/api/v1/admin/config").json()

    assert {answer.status_code for answer in (stored, applied, secret)} == {409}
    assert "agentengine memory configure" in stored.json()["error"]
    assert "agentengine secret set" in secret.json()["error"]
    assert (shown["stored"], shown["pending"]) == (None, False)
    assert shown["running"]["digest"] == before["config"]["applied"]["digest"]
    assert running.status()["config"] == before["config"]
