from tests.architecture.identity_docs import DOCUMENT, document


def test_the_page_about_identity_says_what_is_decided() -> None:
    assert DOCUMENT.read_text(encoding="utf-8") == document(), (
        "run `python -m tests.architecture.identity_docs`"
    )
