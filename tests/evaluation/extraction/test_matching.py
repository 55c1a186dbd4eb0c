"""What was remembered meets what should be: as much as can be, and nothing twice."""

import pytest

from evaluation.extraction.matching import Compared, compare
from evaluation.extraction.records import StoredMemory
from tests.evaluation.extraction.labelled import a_case, a_record, expected, stored

LISBON = stored("The user lives in Lisbon.", former=["The user lives in Boston."])


def found(compared: Compared) -> list[str | None]:
    return [pair.found.text if pair.found else None for pair in compared.pairs]


def test_a_memory_fits_if_it_says_all_words_and_none_of_the_others() -> None:
    case = a_case(expected=[expected("Lisbon", ["lives", "resides"], **{"not": ["Boston"]})])

    texts = ("The user lives in Lisbon.", "Lisbon is nice.", "The user lives in Boston, Lisbon.")
    matched = [found(compare(case, a_record(stored(text)))) for text in texts]

    assert matched == [[texts[0]], [None], [None]]


def test_a_memory_of_another_type_does_not_fit() -> None:
    case = a_case(expected=[expected("Lisbon")])

    compared = compare(case, a_record(stored("Lisbon", type="taxonomic")))

    assert found(compared) == [None]


def test_a_memory_is_about_whom_it_should_be() -> None:
    case = a_case(expected=[expected("cat", subject="Ana"), expected("cat")])
    user, ana = stored("The user has a cat."), stored("Ana has a cat.")

    assert found(compare(case, a_record(user))) == [None, user.text]
    assert found(compare(case, a_record(ana))) == [ana.text, None]
    assert found(compare(case, a_record(user, ana))) == [ana.text, user.text]


def test_each_memory_is_matched_once_and_so_that_most_are_found() -> None:
    case = a_case(expected=[expected("dog"), expected("Rex")])
    both, only_dog = stored("The dog is Rex."), stored("The user has a dog.")

    assert found(compare(case, a_record(both))) == [both.text, None]
    assert found(compare(case, a_record(both, only_dog))) == [only_dog.text, both.text]


def test_of_two_that_fit_the_one_that_came_to_be_as_expected_is_taken() -> None:
    case = a_case(expected=[expected("dog", actions=["ADD", "UPDATE"])])
    added, updated = stored("A dog."), stored("One dog.", actions=["ADD", "UPDATE"])

    assert found(compare(case, a_record(added, updated))) == [updated.text]


def test_what_was_taken_back_is_matched_with_what_has_ended_only() -> None:
    case = a_case(expected=[expected("smokes", ended=True), expected("tea")])
    live, ended = stored("The user smokes tea."), stored("The user smokes.", is_live=False)

    assert found(compare(case, a_record(live))) == [None, live.text]
    assert found(compare(case, a_record(ended))) == [ended.text, None]


def test_what_is_right_to_keep_counts_neither_way() -> None:
    case = a_case("I swim. Ana. Bob.", expected=[expected("swims")], also=[expected("Ana")])
    swims, ana, bob = stored("The user swims."), stored("Ana is known."), stored("Bob swims.")

    compared = compare(case, a_record(ana, swims, bob))

    assert found(compared) == [swims.text]
    assert (compared.neutral, compared.false) == ([ana], [bob])


def test_a_neutral_memory_is_taken_for_an_expected_one_if_no_other_is_there() -> None:
    case = a_case(expected=[expected("dog")], also=[expected("Rex")])
    rex, dog = stored("The dog Rex."), stored("A dog.")

    assert found(compare(case, a_record(rex, dog))) == [dog.text]
    assert found(compare(case, a_record(rex))) == [rex.text]


def test_other_types_are_false_only_where_one_of_them_is_listed() -> None:
    episode = stored("They met.", type="episodic")
    listed = a_case(expected=[{"type": "episodic", "says": ["wedding"]}])

    assert compare(a_case(), a_record(episode)).false == []
    assert compare(listed, a_record(episode)).false == [episode]


@pytest.mark.parametrize(
    ("memory", "outcome"),
    [
        (stored("tea", start="2026-03-01T00:00:00+01:00", end="2026-03-02T00:00:00+01:00"), True),
        (stored("tea", start="2026-02-28T23:00:00Z", end="2026-03-01T23:00:00Z"), True),
        (stored("tea", start="2026-03-01T00:00:00Z", end="2026-03-02T00:00:00Z"), False),
        (stored("tea"), False),
    ],
)
def test_a_time_is_right_if_it_begins_and_ends_then(memory: StoredMemory, outcome: bool) -> None:
    when = {"from": "2026-03-01", "to": "2026-03-02"}
    compared = compare(a_case(expected=[expected("tea", when=when)]), a_record(memory))

    assert compared.right_time(compared.pairs[0]) is outcome


def test_no_time_is_right_where_none_is_expected_and_is_not_judged_without_a_label() -> None:
    timed = stored("tea", start="2026-03-01T00:00:00Z", end="2026-03-02T00:00:00Z")
    without, unlabelled = (
        a_case(expected=[expected("tea", when=None)]),
        a_case(expected=[expected("tea")]),
    )
    outcomes = []
    for case in (without, unlabelled):
        for memory in (stored("tea"), timed):
            compared = compare(case, a_record(memory))
            outcomes.append(compared.right_time(compared.pairs[0]))

    assert outcomes == [True, False, None, None]


def test_actions_are_right_if_they_are_all_and_in_order() -> None:
    case = a_case(expected=[expected("Lisbon", actions=["ADD", "UPDATE"])])
    outcomes = []
    for actions in (["ADD", "UPDATE"], ["ADD"], ["UPDATE", "ADD"]):
        compared = compare(case, a_record(LISBON.model_copy(update={"actions": actions})))
        outcomes.append(compared.right_actions(compared.pairs[0]))

    assert outcomes == [True, False, False]


def test_history_is_right_if_a_former_version_says_it() -> None:
    case = a_case(expected=[expected("Lisbon", was=["Boston"])])
    outcomes = []
    for memory in (LISBON, LISBON.model_copy(update={"former": ["Porto"]})):
        compared = compare(case, a_record(memory))
        outcomes.append(compared.right_history(compared.pairs[0]))

    assert outcomes == [True, False]


@pytest.mark.parametrize(
    ("texts", "is_right"),
    [
        (["The user lives in Boston.", "Tea."], True),
        (["Tea."], False),
        (["The user lives in Boston.", "The user lives in Lisbon."], False),
        ([], False),
    ],
)
def test_a_search_of_the_past_finds_what_held_and_not_what_came(
    texts: list[str], is_right: bool
) -> None:
    asked = {"at": "2026-04-01T00:00:00Z", "says": ["Boston"], "not": ["Lisbon"]}
    case = a_case(as_of=[asked])

    [answer] = compare(case, a_record(as_of=[texts])).as_of

    assert answer.is_right is is_right


def test_what_must_not_be_said_is_made_up_in_any_live_memory() -> None:
    case = a_case("The code is 7305.", absent=[{"says": ["7305"]}])
    episode = stored("User: 7305", type="episodic")

    [made] = compare(case, a_record(episode, stored("7305", is_live=False))).made_up

    assert (made.memory, made.kind, made.words) == (episode, "absent", "7305")


def test_what_must_not_be_said_by_one_type_may_be_told_by_another() -> None:
    case = a_case("I am the king.", absent=[{"says": ["king"], "type": "semantic"}])
    fact, episode = stored("The user is king."), stored("I am the king.", type="episodic")

    assert [made.memory for made in compare(case, a_record(fact, episode)).made_up] == [fact]


def test_a_fact_that_nobody_said_is_made_up_and_an_episode_is_free_to_tell() -> None:
    case = a_case("I swim.")
    fact, episode = stored("The user dances."), stored("They danced.", type="episodic")

    [made] = compare(case, a_record(fact, episode)).made_up

    assert (made.memory, made.kind, made.words) == (fact, "word", "dances")
