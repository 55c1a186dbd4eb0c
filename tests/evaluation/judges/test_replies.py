import pytest

from evaluation.judges.replies import labelled, yes_or_no


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        ('The dates agree.\n{"label": "CORRECT"}', True),
        ('```json\n{"label": "WRONG", "why": "another day"}\n```', False),
        ('{"label": "CORRECT"} or {"label": "WRONG"}', None),
        ("CORRECT", None),
        ('{"label": "correct"}', None),
        ('{"label": ["CORRECT"]}', None),
        ('{"label": CORRECT}', None),
        ("", None),
    ],
)
def test_a_label_is_read_from_the_one_object_alone(reply: str, verdict: bool | None) -> None:
    assert labelled(reply) is verdict


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        ("yes", True),
        (" Yes.\n", True),
        ("NO", False),
        ("**no**", False),
        ("yes and no", None),
        ("I know it.", None),
        ("", None),
    ],
)
def test_one_word_is_read_and_nothing_more(reply: str, verdict: bool | None) -> None:
    assert yes_or_no(reply) is verdict
