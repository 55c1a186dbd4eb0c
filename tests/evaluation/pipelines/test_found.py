from evaluation.pipelines.found import of_turn
from evaluation.pipelines.place import Place
from tests.evaluation.talk import MAY, a_conversation

SERVERS_CLOCK = "2031-01-01T00:00:00+00:00"


def test_a_find_has_no_date_where_the_data_has_none() -> None:
    said = [("first", "user", "It is on Friday.", None), ("second", "user", "Or not.", MAY)]
    place = Place.of(a_conversation(said=said), ingestion="i")

    undated, dated = (
        of_turn(
            {
                "id": "x",
                "source": "stm",
                "content": "said",
                "timestamp": SERVERS_CLOCK if at is None else at.isoformat(),
                "metadata": {"session_id": session, "turn_seq": 1, "role": "user"},
            },
            place,
        )
        for session, (_, _, _, at) in zip(place.sessions, said, strict=True)
    )

    assert (undated.turns, undated.at) == (("first:0",), None)
    assert (dated.turns, dated.at) == (("second:1",), MAY)
