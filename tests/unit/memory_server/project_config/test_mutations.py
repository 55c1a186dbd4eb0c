"""Whatever is done to a document, it is read or refused with a place, and no credential shows."""

import copy
from typing import Any

import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memory_server.errors import InvalidProjectConfig
from memory_server.project_config import Problem, known_keys, parse, scaffold
from tests.unit.memory_server.project_config.reading import problems_of
from tests.unit.memory_server.project_config.test_credentials import CREDENTIALS

SOUND: dict[str, Any] = {
    "memory_only": True,
    "memory": {
        "log_level": "info",
        "embedding": {"provider": "local", "model": "wordllama", "dimension": 256},
        "short_term": {"embed_on_write": True},
        "extraction_llm": {"provider": "openai", "base_url": "https://a.example", "model": None},
        "background_extraction": {"snapshot": {"max_messages": 5, "topic_shift_threshold": 0.5}},
        "extraction": {"enabled": ["semantic", "entity"]},
        "custom_memory_types": [{"name": "a", "collection": "c", "tags": [{"name": "t.u"}]}],
        "metadata_partition_key": [{"name": "tier", "type": "string"}],
        "metadata_partition_index": {"short_term": ["both"]},
    },
    "other": {"list": [1, "two"]},
}
NAMES = sorted({path.rpartition(".")[2] for path in known_keys()})
SECRETS = sorted(CREDENTIALS.values())
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=20),
    st.dates(),
    st.binary(max_size=5),
    st.sampled_from(SECRETS),
    st.sampled_from(
        ["semantic", "local", "yes", "1", "0x1F", "LLM_API_KEY", "both", "[", "\ud800"]
    ),
)
names = st.one_of(st.sampled_from(NAMES), st.text(max_size=10), st.sampled_from(SECRETS))
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4),
    max_leaves=8,
)
HUNKS = [
    "\t",
    "&a ",
    "*a",
    "<<: ",
    "!!x ",
    "- ",
    ": ",
    "? ",
    "{",
    "[",
    "'",
    '"',
    "|\n",
    "---\n",
    "%",
]


def holders(value: Any) -> list[Any]:
    """Return every list and mapping of a document."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    own = [value] if isinstance(value, dict | list) else []
    return own + [held for item in inner for held in holders(item)]


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """Put other things into, and take things out of, a document that was sound."""
    document = copy.deepcopy(SOUND)
    for _ in range(draw(st.integers(1, 4))):
        holder = draw(st.sampled_from(holders(document)))
        if isinstance(holder, dict):
            key = draw(st.sampled_from([*map(str, holder)]) | names if holder else names)
            holder[key] = draw(values)
            if draw(st.booleans()):
                del holder[key]
        else:
            holder.insert(draw(st.integers(0, len(holder))), draw(values))
    return document


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Put pieces of syntax and credentials anywhere into a file that was sound."""
    text = scaffold("demo")
    pieces = st.sampled_from(HUNKS + SECRETS) | st.text(max_size=3)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(pieces) + text[at + draw(st.integers(0, 3)) :]
    return text


def check(data: bytes) -> None:
    problems = problems_of(data)
    shown = "\n".join(map(str, problems))
    assert all(problem.line and problem.column and problem.message for problem in problems)
    assert len(shown.splitlines()) == len(problems)
    assert not [secret for secret in SECRETS if secret in shown]


@given(documents())
@settings(max_examples=100, deadline=None)
def test_a_changed_document_is_read_or_refused_with_places(document: dict[str, Any]) -> None:
    text = yaml.safe_dump(document, allow_unicode=True)

    check(text.encode("utf-8", "surrogatepass"))


@given(texts())
@example("memory: " + "- " * 40)
@example(f"memory: {{e{CREDENTIALS['AWS']}mbedding: 1}}")
@settings(max_examples=100, deadline=None)
def test_a_changed_text_is_read_or_refused_with_places(text: str) -> None:
    check(text.encode("utf-8", "surrogatepass"))


@given(st.binary(max_size=200))
@settings(max_examples=100, deadline=None)
def test_any_bytes_are_read_or_refused_with_places(data: bytes) -> None:
    check(data)


@given(documents())
@settings(max_examples=100, deadline=None)
def test_a_changed_mapping_is_read_or_refused_by_path(document: dict[str, Any]) -> None:
    memory = document.get("memory")
    problems: tuple[Problem, ...] = ()
    try:
        parse(memory if isinstance(memory, dict) else {"memory": memory})
    except InvalidProjectConfig as error:
        problems = error.details["problems"]

    assert all(problem.path for problem in problems)
    assert not [secret for secret in SECRETS if secret in str(problems)]
