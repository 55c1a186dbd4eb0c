import pytest
from starlette.datastructures import Headers

from memory_server.api.invoking import custom_headers
from memory_server.errors import InvalidRequest, TooLarge

PREFIX = "X-Mdb-Agent-Engine-Custom-"


def test_the_callers_own_headers_lose_their_prefix_and_their_case() -> None:
    headers = Headers({f"{PREFIX}Tenant-Id": "T 1", "X-Other": "no", PREFIX: "nameless"})

    assert custom_headers(headers) == {"tenant-id": "T 1"}


def test_fifty_are_enough() -> None:
    many = {f"{PREFIX}{number}": "v" for number in range(51)}

    with pytest.raises(InvalidRequest, match="51 begin with"):
        custom_headers(Headers(many))
    many.popitem()
    assert len(custom_headers(Headers(many))) == 50


def test_a_value_that_is_too_long_is_refused_by_the_name_of_its_header() -> None:
    with pytest.raises(TooLarge, match="x-mdb-agent-engine-custom-big: 8192 bytes") as caught:
        custom_headers(Headers({f"{PREFIX}Big": "v" * 8193}))

    assert "vvv" not in str(caught.value)
    assert custom_headers(Headers({f"{PREFIX}Big": "v" * 8192})) == {"big": "v" * 8192}
