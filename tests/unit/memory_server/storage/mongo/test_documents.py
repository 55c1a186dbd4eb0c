"""What documents of the database are made of comes back as it was."""

import pytest

from memory_server.storage.mongo.documents import identity, named, space_key, space_of_key

NAMES = ["local", "a/b", "a%2Fb", "%", "/", "", "ünï", "a/", "%25/%2F"]


@pytest.mark.parametrize("project_id", NAMES)
@pytest.mark.parametrize("document_id", NAMES)
def test_an_id_tells_the_project_and_the_id_it_was_made_of(
    project_id: str, document_id: str
) -> None:
    assert named(identity(project_id, document_id)) == (project_id, document_id)


def test_no_two_have_the_same_id() -> None:
    pairs = [(one, other) for one in NAMES for other in NAMES]

    assert len({identity(*pair) for pair in pairs}) == len(pairs)


@pytest.mark.parametrize("name", ["bge-small-en-v1.5@384", "a%2Eb@1", "$x@2", "voyage-4@1024"])
def test_the_field_of_a_space_tells_the_space(name: str) -> None:
    key = space_key(name)

    assert space_of_key(key) == name
    assert "." not in key
    assert not key.startswith("$")
