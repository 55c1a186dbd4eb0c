import pytest

from memory_server.api.mcp.origins import check_origin
from memory_server.errors import Forbidden

LISTED = ("https://notes.example.org",)


@pytest.mark.parametrize(
    "origin",
    [
        None,
        "http://localhost",
        "http://localhost:6274",
        "http://127.0.0.1:3000",
        "http://[::1]:3000",
        "http://app.localhost:3000",
        "https://notes.example.org",
    ],
)
def test_programs_pages_of_this_machine_and_listed_pages_may_come_in(origin: str | None) -> None:
    check_origin(origin, LISTED)


@pytest.mark.parametrize(
    "origin",
    [
        "",
        "null",
        "http://evil.example",
        "http://localhost.evil.example",
        "http://evil.example#localhost",
        "http://127.0.0.1.evil.example",
        "http://notes.example.org",
        "https://notes.example.org:8443",
        "http://[::1",
        "http://192.168.1.7",
    ],
)
def test_other_pages_may_not_whatever_name_they_reach_this_machine_by(origin: str) -> None:
    with pytest.raises(Forbidden, match="AGENTENGINE_ALLOWED_ORIGINS"):
        check_origin(origin, LISTED)
