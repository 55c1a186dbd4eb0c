import pytest

from memory_server.project_config.credentials import credential_kind, is_opaque
from tests.unit.memory_server.project_config.reading import only, problems_of, read, told

# Put together here so that no scanner takes this file for a leak.
CREDENTIALS = {
    "OpenAI": "sk-" + "proj-4f9aXk20PqLmZr8s",
    "Anthropic": "sk-ant-" + "api03-Zk3mPq9sLx0v",
    "Voyage": "pa-" + "Zk3mPq9sLx0vBt71WyUe",
    "Atlas model": "al-" + "Zk3mPq9sLx0vBt71WyUe",
    "Cerebras": "csk-" + "zk3mpq9slx0vbt71wyue",
    "Google": "AIza" + "SyZk3mPq9sLx0vBt71WyUe",
    "GitHub": "ghp_" + "Zk3mPq9sLx0vBt71WyUe",
    "GitHub fine-grained": "github_pat_" + "11AAZk3mPq9sLx0v",
    "Slack": "xoxb-" + "123456789012-abcdef",
    "AWS": "AKIA" + "IOSFODNN7EXAMPLE",
    "Hugging Face": "hf_" + "Zk3mPq9sLx0vBt71WyUe",
    "service account": "mdb_sa_sk_" + "Zk3mPq9sLx0vBt71",
    "MongoDB": "mongodb://" + "app:hunter2@db.example:27017/x",
    "MongoDB with slash": "mongodb+srv://" + "app:hun/ter2@db.example/x",
    "user in address": "https://" + "team@gateway.example/v1",
    "password in address": "https://" + "team:hunter2@gateway.example/v1",
    "key in query": "https://gateway.example/v1?api_key=" + "hunter2hunter2",
    "bearer": "Bearer " + "Zk3mPq9sLx0vBt71WyUe",
    "JWT": "eyJ" + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
    "PEM": "-----BEGIN " + "RSA PRIVATE KEY-----",
}
ORDINARY = [
    "voyage-4-large",
    "bge-small-en-v1.5",
    "text-embedding-3-small",
    "claude-sonnet-4-5-20250929",
    "meta-llama/Llama-3.3-70B-Instruct-Turbo",
    "Mixtral-8x22B-Instruct-v0-1-GPTQ-4bit-128g-actorder",
    "NousHermes2Mixtral8x7BDPO",
    "accounts/fireworks/models/qwen2p5-coder-32b-instruct",
    "us.anthropic.claude-3-5-sonnet-20241022-v2:0",
    "ft:gpt-4o-mini-2024-07-18:acme:support:9aBcDeFg",
    "task-specialised-embedder-v2",
    "risk-assessment-model-large",
    "al-khwarizmi-embedding-large",
    "https://gateway.example.com/team/openai/v1/",
    "https://registry.example/@scope/package",
    "https://gw.example/0123456789abcdef0123456789abcdef/v1",
    "http://localhost:11434/v1",
    "bearer authentication",
    "5f8d0d55b54764421b7156c1",
    "550e8400-e29b-41d4-a716-446655440000",
]
each_credential = pytest.mark.parametrize("secret", CREDENTIALS.values(), ids=CREDENTIALS)


@each_credential
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("memory: {{voyage: {{model: '{}'}}}}", id="value"),
        pytest.param("memory: {{'{}': 1}}", id="key"),
        pytest.param("memory: {{extraction: {{enabled: ['{}']}}}}", id="item"),
        pytest.param("memory: {{a: {{b: ['x {}']}}}}", id="below an unknown key"),
        pytest.param("memory: {{}}\nother: {{a: ['{}']}}", id="outside memory"),
        pytest.param("memory: {{}}\n'{}': 1", id="key outside memory"),
        pytest.param("memory: {{}} # {}", id="comment"),
        pytest.param("memory: {{}}\nother: |\n  first\n  {}\n", id="block"),
        pytest.param("memory: {{extraction_llm: {{api_key_secret: '{}'}}}}", id="secret name"),
        pytest.param("memory: {{log_level: info, log_level: '{}'}}", id="repeated key"),
        pytest.param("memory: {{a: '{}'", id="broken YAML"),
        pytest.param("memory: &'{}' {{}}", id="anchor"),
        pytest.param("memory: *'{}'", id="alias"),
    ],
)
def test_a_credential_anywhere_is_refused_and_never_repeated(text: str, secret: str) -> None:
    shown = told(text.format(secret))

    assert shown
    assert secret not in shown
    assert secret[4:] not in shown


@each_credential
def test_a_credential_is_told_by_its_path_and_kind(secret: str) -> None:
    text = f"memory:\n  voyage: {{model: '{secret}'}}"
    found = {problem.path: problem for problem in problems_of(text)}

    assert found["memory.voyage.model"].line == 2
    assert "secrets do not belong in this file" in found["memory.voyage.model"].message


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_names_and_addresses_are_no_credentials(text: str) -> None:
    assert credential_kind(text) is None
    assert not is_opaque(text)
    read(f"memory: {{}}\nother: '{text}'")


def test_a_bearer_token_stands_on_the_line_of_its_word() -> None:
    assert credential_kind("auth_header: bearer\nbackground_extraction_since_2024: 1") is None


@pytest.mark.parametrize(
    "text",
    [
        "0f1e2d3c4b5a69788796a5b4c3d2e1f0",
        "Zk3mPq9sLx0vBt71WyUeZk3mPq9sLx0v",
        "Zk3m-Pq9sLx0vBt71WyUeZk3mPq9sLx0vQ",
    ],
)
def test_long_random_text_without_a_known_shape_is_refused_in_memory(text: str) -> None:
    problem = only(f"memory: {{voyage: {{model: '{text}'}}}}")

    assert "looks like a key or token" in problem.message
    assert text not in told(f"memory: {{'{text}': 1}}")


def test_random_text_of_other_tools_is_left_alone() -> None:
    read("memory: {}\nimage: 0f1e2d3c4b5a69788796a5b4c3d2e1f0\n")


@pytest.mark.parametrize(
    "value", ["0f1e2d3c4b5a69788796a5b4c3d2e1f0", "hunter2", "MY_KEY", "765432", '" "']
)
def test_a_key_in_place_of_a_name_is_told_what_is_expected(value: str) -> None:
    problem = only(f"memory:\n  extraction_llm:\n    api_key_secret: {value}\n")

    assert (problem.line, problem.path) == (3, "memory.extraction_llm.api_key_secret")
    assert "expects the name of a secret, one of LLM_API_KEY, OPENAI_API_KEY" in problem.message
    assert value not in problem.message


def test_the_embedding_takes_the_names_of_its_own_secrets() -> None:
    allowed = "VOYAGE_API_KEY, OPENAI_API_KEY, LLM_API_KEY"
    text = "memory: {{embedding: {{provider: voyage, api_key_secret: {}}}}}"

    read(text.format("VOYAGE_API_KEY"))
    assert f"one of {allowed}, null;" in only(text.format("GEMINI_API_KEY")).message


def test_an_escaped_credential_is_found() -> None:
    problem = only('memory: {log_level: "sk-\\x61bcdefghijkl"}')

    assert problem.path == "memory.log_level"
    assert "looks like a provider key" in problem.message


def test_a_file_full_of_credentials_is_told_in_part() -> None:
    assert len(problems_of("# sk-abcdefgh\n" * 5_000 + "memory: {}")) == 100
