from memory_server.domain import limits
from tests.architecture.limits_docs import DOCUMENT, document


def test_the_reference_of_limits_is_what_the_server_keeps_to() -> None:
    assert DOCUMENT.read_text(encoding="utf-8") == document(), (
        "run: python -m tests.architecture.limits_docs"
    )


def test_every_limit_is_in_the_reference() -> None:
    told = {row.value for row in limits.LIMITS}
    numbers = {
        name: value
        for name, value in vars(limits).items()
        if name.startswith("MAX_") or name.endswith(("_SECONDS", "_A_SECOND"))
    }
    page = document()

    for name, value in numbers.items():
        assert value in told or f"{value:,.12g}" in page or name == "WRITE_BURST_SECONDS", name
