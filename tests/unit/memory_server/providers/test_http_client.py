import pytest

from memory_server.providers.http_client import endpoint


@pytest.mark.parametrize(
    ("base_url", "posted_to"),
    [
        ("https://host/v1", "https://host/v1/embeddings"),
        ("https://host/v1/", "https://host/v1/embeddings"),
        ("http://host:8080", "http://host:8080/embeddings"),
        ("https://host/model?api-version=2", "https://host/model/embeddings?api-version=2"),
        ("https://host/model/?api-version=2", "https://host/model/embeddings?api-version=2"),
    ],
)
def test_embeddings_lie_below_the_address(base_url: str, posted_to: str) -> None:
    assert str(endpoint(base_url, "embeddings")) == posted_to
