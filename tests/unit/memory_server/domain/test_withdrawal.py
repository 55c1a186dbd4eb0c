"""Episodes do not tell what was taken back."""

from datetime import UTC, datetime

from memory_server.domain.memory import Episode, Fact, Memory
from memory_server.domain.scope import Visibility
from memory_server.domain.withdrawal import without

MARCH = datetime(2030, 3, 1, tzinfo=UTC)


def fact(text: str) -> Memory:
    return Memory(
        id="m1",
        project_id="p",
        user_id="ana",
        visibility=Visibility.PRIVATE,
        body=Fact(label="a_fact", text=text),
        created_at=MARCH,
        updated_at=MARCH,
        valid_from=MARCH,
    )


SMOKES = fact("The user smokes.")


def test_sentence_goes_from_title_content_and_summary() -> None:
    told = Episode(
        title="I smoke",
        content="1 May, User:\nUser: I smoke. We went to Bergen.\nUser: It rained.",
        summary_text="User: I smoke. User: It rained.",
    )

    left = without(told, [SMOKES])

    assert left is not None
    assert left.content == "1 May, User:\nUser: We went to Bergen.\nUser: It rained."
    assert (left.title, left.summary_text) == ("We went to Bergen", "User: User: It rained.")


def test_prose_loses_the_sentence_alone() -> None:
    told = Episode(title="Bergen", content="The user smokes a lot. They saw 3.5 m of snow.")

    left = without(told, [SMOKES])

    assert left is not None
    assert left.content == "They saw 3.5 m of snow."


def test_episode_of_nothing_else_is_none() -> None:
    assert (
        without(Episode(title="I smoke", content="1 May, User:\nUser: I smoke."), [SMOKES]) is None
    )


def test_episode_of_other_things_stays_as_it_is() -> None:
    told = Episode(title="Bergen", content="User: The house was full of cats.")

    assert without(told, [SMOKES]) is told
