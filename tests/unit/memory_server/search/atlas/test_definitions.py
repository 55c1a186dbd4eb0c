"""What the search indexes hold."""

from memory_server.domain.embedding import EmbeddingSpace
from memory_server.search.atlas.definitions import (
    WORDS_ANALYZER,
    Leg,
    Wanted,
    definition,
    extended,
    indexed_paths,
)
from memory_server.storage.mongo.documents import space_key

SPACE = EmbeddingSpace(model="voyage-3.5", dimension=1024)
KEYS = Wanted(keys={"tier": "string", "order.total": "number", "vip": "boolean", "seen": "date"})
PATHS = [
    "id",
    "project_id",
    "user_id",
    "visibility",
    "custom_type",
    "agent_id",
    "session_id",
    "role",
    "domain",
    "body.tags",
    "exchange_id",
    "viewpoint",
    "speaker",
    "valid_from",
    "revision",
    "is_live",
    "hidden",
]
DECLARED = ["metadata.tier", "metadata.order.total", "metadata.vip", "moments.seen"]


def test_the_index_for_vectors() -> None:
    wanted = Wanted(keys=KEYS.keys, spaces=[SPACE])

    assert definition(Leg.VECTOR, wanted) == {
        "fields": [
            {
                "type": "vector",
                "path": "vectors.voyage-3%2E5@1024",
                "numDimensions": 1024,
                "similarity": "cosine",
            },
            *({"type": "filter", "path": path} for path in (*PATHS, *DECLARED)),
        ]
    }


def test_vectors_are_indexed_where_the_store_writes_them() -> None:
    made = definition(Leg.VECTOR, Wanted(spaces=[SPACE]))

    assert made is not None
    assert made["fields"][0]["path"] == f"vectors.{space_key(SPACE)}"


def test_without_a_space_there_is_no_index_for_vectors() -> None:
    assert definition(Leg.VECTOR, KEYS) is None


def test_the_index_for_words() -> None:
    token, number, boolean = ({"type": one} for one in ("token", "number", "boolean"))

    def inner(**fields: object) -> dict[str, object]:
        return {"type": "document", "dynamic": False, "fields": fields}

    assert definition(Leg.TEXT, KEYS) == {
        "mappings": {
            "dynamic": False,
            "fields": {
                "text": {
                    "type": "string",
                    "analyzer": "agentengine_words",
                    "searchAnalyzer": "agentengine_words",
                },
                "id": token,
                "project_id": token,
                "user_id": token,
                "visibility": token,
                "custom_type": token,
                "agent_id": token,
                "session_id": token,
                "role": token,
                "domain": token,
                "body": inner(tags=token),
                "exchange_id": token,
                "viewpoint": token,
                "speaker": token,
                "valid_from": number,
                "revision": number,
                "is_live": boolean,
                "hidden": boolean,
                "metadata": inner(tier=token, order=inner(total=number), vip=boolean),
                "moments": inner(seen=number),
            },
        },
        "analyzers": [WORDS_ANALYZER],
    }


def test_what_is_there_already_needs_nothing() -> None:
    for leg in Leg:
        wanted = Wanted(keys=KEYS.keys, spaces=[SPACE])
        made = definition(leg, wanted)
        assert made is not None

        assert extended(leg, made, wanted) is None
        assert extended(leg, made, Wanted(spaces=[SPACE])) is None


def test_a_new_key_and_a_new_space_are_added_and_nothing_is_taken_away() -> None:
    for leg in Leg:
        former = definition(leg, Wanted(keys={"old": "string"}, spaces=[SPACE]))
        assert former is not None
        before = indexed_paths(leg, former)
        other = EmbeddingSpace(model="nomic", dimension=3)

        added = extended(leg, former, Wanted(keys={"new": "string"}, spaces=[other]))

        assert added is not None
        more = {"metadata.new"} | ({"vectors.nomic@3"} if leg is Leg.VECTOR else set())
        assert indexed_paths(leg, added) == before | more
        assert indexed_paths(leg, former) == before


def test_what_people_added_to_an_index_stays() -> None:
    theirs = {
        "mappings": {
            "dynamic": True,
            "fields": {"user_id": {"type": "string"}, "x": [{"type": "date"}]},
        },
        "analyzers": [{"name": "theirs"}],
        "storedSource": True,
    }

    added = extended(Leg.TEXT, theirs, Wanted())

    assert added is not None
    assert added["storedSource"] is True
    assert [one["name"] for one in added["analyzers"]] == ["theirs", "agentengine_words"]
    assert added["mappings"]["dynamic"] is True
    assert added["mappings"]["fields"]["user_id"] == [{"type": "string"}, {"type": "token"}]
    assert added["mappings"]["fields"]["x"] == [{"type": "date"}]
