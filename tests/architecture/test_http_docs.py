from memory_server.api.errors import STATUSES
from tests.architecture.http_docs import DOCUMENT, document


def test_the_reference_of_the_http_api_is_what_the_application_says() -> None:
    assert DOCUMENT.read_text(encoding="utf-8") == document(), (
        "run: python -m tests.architecture.http_docs"
    )


def test_the_reference_names_every_error_that_has_a_status_of_its_own() -> None:
    written = DOCUMENT.read_text(encoding="utf-8")

    assert all(f"| `{kind.code}` | {status} |" in written for kind, status in STATUSES.items())
