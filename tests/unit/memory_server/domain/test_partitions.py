from typing import Any

import pytest

from memory_server import project_config
from memory_server.domain.chunk import RetrievalMode, Source
from memory_server.domain.filters import Comparison, Operator
from memory_server.domain.partitions import BOTH, Legs, Partitions
from memory_server.errors import InvalidFilter, PublishingPath, UndeclaredPath

TEXT: Legs = frozenset((RetrievalMode.TEXT,))
VECTOR: Legs = frozenset((RetrievalMode.SEMANTIC,))
GOLD = {"metadata.tier": "gold"}
IS_GOLD = Comparison("metadata.tier", Operator.EQ, "gold")

PARTITIONS = Partitions(
    keys={"tier": "string"},
    index={Source.SEMANTIC: BOTH, Source.EPISODIC: TEXT, Source.TAXONOMIC: VECTOR},
)


@pytest.mark.parametrize(
    ("source", "mode", "accepted"),
    [
        (Source.SEMANTIC, RetrievalMode.TEXT, True),
        (Source.SEMANTIC, RetrievalMode.SEMANTIC, True),
        (Source.SEMANTIC, RetrievalMode.HYBRID, True),
        (Source.EPISODIC, RetrievalMode.TEXT, True),
        (Source.EPISODIC, RetrievalMode.SEMANTIC, False),
        (Source.EPISODIC, RetrievalMode.HYBRID, False),
        (Source.TAXONOMIC, RetrievalMode.TEXT, False),
        (Source.TAXONOMIC, RetrievalMode.SEMANTIC, True),
        (Source.TAXONOMIC, RetrievalMode.HYBRID, False),
        (Source.PROCEDURAL, RetrievalMode.TEXT, False),
    ],
)
def test_a_key_is_filtered_on_exactly_the_legs_it_is_indexed_for(
    source: Source, mode: RetrievalMode, accepted: bool
) -> None:
    if accepted:
        assert PARTITIONS.filter(source, mode, GOLD) == IS_GOLD
    else:
        with pytest.raises(UndeclaredPath, match=r"metadata\.tier"):
            PARTITIONS.filter(source, mode, GOLD)


@pytest.mark.parametrize("source", list(Source))
@pytest.mark.parametrize("mode", list(RetrievalMode))
def test_the_agent_can_always_be_filtered_on(source: Source, mode: RetrievalMode) -> None:
    found = PARTITIONS.filter(source, mode, {"agent_id": "a1"})

    assert found == Comparison("agent_id", Operator.EQ, "a1")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (Source.EPISODIC, "On episodic, metadata.tier can be filtered on in mode text"),
        (Source.PROCEDURAL, "list procedural in memory.metadata_partition_index"),
        (Source.STM, "list short_term in memory.metadata_partition_index"),
    ],
)
def test_a_refusal_says_what_is_accepted_and_in_which_mode(source: Source, said: str) -> None:
    with pytest.raises(UndeclaredPath) as refused:
        PARTITIONS.filter(source, RetrievalMode.HYBRID, {"metadata.colour": "red"})

    where = f"'metadata.colour' is not a declared filter path on {source.value} in mode hybrid"
    assert f"{where} (accepted paths: agent_id (string))" in str(refused.value)
    assert said in str(refused.value)


def test_without_any_declared_key_the_refusal_says_so() -> None:
    with pytest.raises(UndeclaredPath, match=r"memory\.metadata_partition_key"):
        Partitions().filter(Source.SEMANTIC, RetrievalMode.TEXT, GOLD)


@pytest.mark.parametrize("path", ["publishing", "publishing.state"])
def test_what_is_published_is_refused_in_its_own_way(path: str) -> None:
    with pytest.raises(PublishingPath, match="reserved"):
        PARTITIONS.filter(Source.SEMANTIC, RetrievalMode.TEXT, {path: "x"})


@pytest.mark.parametrize(
    ("source", "document", "mode"),
    [
        (Source.SEMANTIC, GOLD, RetrievalMode.HYBRID),
        (Source.EPISODIC, GOLD, RetrievalMode.TEXT),
        (Source.TAXONOMIC, GOLD, RetrievalMode.SEMANTIC),
        (Source.PROCEDURAL, {"agent_id": "a1"}, RetrievalMode.HYBRID),
        (Source.PROCEDURAL, None, RetrievalMode.HYBRID),
    ],
)
def test_a_search_that_names_no_mode_has_the_widest_that_takes_its_filter(
    source: Source, document: dict[str, Any] | None, mode: RetrievalMode
) -> None:
    assert PARTITIONS.filter_in_any_mode(source, document)[0] is mode


def test_a_filter_that_no_mode_takes_is_refused() -> None:
    with pytest.raises(UndeclaredPath):
        PARTITIONS.filter_in_any_mode(Source.PROCEDURAL, GOLD)


def test_a_filter_outside_the_language_is_refused_whatever_the_mode() -> None:
    with pytest.raises(InvalidFilter):
        PARTITIONS.filter_in_any_mode(Source.SEMANTIC, {"metadata.tier": {"$regex": "."}})


def test_partitions_are_those_of_the_configuration() -> None:
    memory = project_config.parse(
        {
            "embedding": {"provider": "local"},
            "short_term": {"embed_on_write": True},
            "metadata_partition_key": [{"name": "address.city", "type": "string"}],
            "metadata_partition_index": {"short_term": ["both"], "episodic": ["vector"]},
        }
    )

    assert Partitions.of(memory) == Partitions(
        keys={"address.city": "string"},
        index={Source.STM: BOTH, Source.EPISODIC: VECTOR, Source.BLOCK: BOTH},
    )
