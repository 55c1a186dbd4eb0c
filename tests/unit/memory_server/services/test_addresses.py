import pytest

from memory_server.services.addresses import source_of


@pytest.mark.parametrize(
    ("address", "source"),
    [
        ("10.1.2.3", "10.1.2.3"),
        ("::ffff:10.1.2.3", "10.1.2.3"),
        ("2001:db8:0:1:a:b:c:d", "2001:db8:0:1::/64"),
        ("2001:db8:0:1::1", "2001:db8:0:1::/64"),
        ("::1", "::/64"),
        ("a-file", "a-file"),
        (None, ""),
    ],
)
def test_attempts_count_for_an_address_or_for_the_network_it_is_given_out_with(
    address: str | None, source: str
) -> None:
    assert source_of(address) == source
