import pytest

from agentengine_cli.base_url import is_exposed, normalized
from agentengine_cli.errors import WrongUsage


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("https://Memory.Example.com/", "https://memory.example.com"),
        ("HTTPS://memory.example.com:443", "https://memory.example.com"),
        (" http://127.0.0.1:8080/ ", "http://127.0.0.1:8080"),
        ("http://[::1]:80", "http://[::1]"),
        ("https://example.com/memory/", "https://example.com/memory"),
    ],
)
def test_an_address_has_one_spelling(typed: str, kept: str) -> None:
    assert normalized(typed) == kept


@pytest.mark.parametrize(
    "typed",
    [
        "memory.example.com",
        "ftp://memory.example.com",
        "https://",
        "https://ana:hunter2@memory.example.com",
        "https://memory.example.com?x=1",
        "https://memory.example.com#x",
        "http://memory.example.com:99999",
    ],
)
def test_what_is_no_address_is_wrong_usage_and_its_password_is_not_repeated(typed: str) -> None:
    with pytest.raises(WrongUsage, match="--base-url is no address of a server") as refused:
        normalized(typed)

    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "exposed"),
    [
        ("http://memory.example.com", True),
        ("http://10.0.0.1:8080", True),
        ("https://memory.example.com", False),
        ("http://127.0.0.1:8080", False),
        ("http://localhost:8080", False),
        ("http://[::1]:8080", False),
    ],
)
def test_only_plain_http_beyond_this_machine_can_be_read_on_its_way(
    url: str, exposed: bool
) -> None:
    assert is_exposed(url) is exposed
