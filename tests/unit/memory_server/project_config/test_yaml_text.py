import pytest

from tests.unit.memory_server.project_config.reading import only, problems_of, read, told

MANY_KEYS = "".join(f"k{number}: 1\n" for number in range(6_000))


@pytest.mark.parametrize(
    ("data", "place", "words"),
    [
        pytest.param(b"", (1, 1), "the file is empty", id="nothing"),
        pytest.param(b"# only a comment\n", (1, 1), "the file is empty", id="only a comment"),
        pytest.param(b"#" * 1_000_001, (1, 1), "larger than 1,000,000 bytes", id="too large"),
        pytest.param(b"memory:\n  a: caf\xe9\n", (2, 9), "offset 16", id="latin-1"),
        pytest.param(b"\xef\xbb\xbfmemory: {}\n", (1, 1), "byte order mark", id="BOM"),
        pytest.param("memory: {}".encode("utf-16"), (1, 1), "UTF-16", id="UTF-16"),
        pytest.param(b"memory: {}\n---\na: 1\n", (2, 1), "second document", id="documents"),
        pytest.param(b"memory:\n\tvoyage: {}\n", (2, 1), "a tab character", id="tab"),
        pytest.param(b"memory:\n  a:\n  \tb: 1\n", (3, 3), "a tab character", id="late tab"),
        pytest.param(b'memory: "\x07"\n', (1, 10), "U+0007", id="control character"),
        pytest.param(b'memory: "\\UFFFFFFFF"\n', (1, 12), "out of range", id="escape"),
        pytest.param(b"memory: " + b"[" * 50_000, (1, 40), "more than 32 levels", id="flow depth"),
        pytest.param(MANY_KEYS.encode(), (5_000, 8), "more than 10,000 values", id="values"),
        pytest.param(b"memory: a: b\n", (1, 10), "not valid YAML: a second `: `", id="colons"),
        pytest.param(b'memory: "a\n', (2, 1), "a quoted value is not closed", id="quote"),
        pytest.param(b"memory: @a\n", (1, 9), "cannot start with this", id="reserved character"),
        pytest.param(b"memory: {a: 1\n", (2, 1), "not closed", id="brace"),
        pytest.param(b"memory: ? ! }\n", (1, 9), "not valid YAML", id="nonsense"),
    ],
)
def test_a_text_that_cannot_be_read_is_told_with_its_place(
    data: bytes, place: tuple[int, int], words: str
) -> None:
    problem = only(data)

    assert (problem.line, problem.column) == place
    assert words in problem.message


def test_blocks_nested_too_deep_are_refused() -> None:
    nested = "".join(f"{' ' * depth}a:\n" for depth in range(1_000))

    assert "nested more than 32 levels" in only(nested).message


@pytest.mark.parametrize(
    ("text", "path", "words"),
    [
        pytest.param("memory: {log_level: &a info}", "memory.log_level", "anchors", id="anchor"),
        pytest.param("memory: {voyage: *nowhere}", "memory.voyage", "aliases", id="alias"),
        pytest.param("memory: {log_level: !!str info}", "memory.log_level", "tags", id="tag"),
        pytest.param("memory: !!python/object/apply:os.abort []", "memory", "tags", id="python"),
        pytest.param("memory: {<<: {a: 1}}", "memory.<<", "merge keys", id="merge key"),
        pytest.param("memory: {? [a] : 1}", "memory", "name of a key is expected", id="list key"),
        pytest.param("memory: {}\na: 1\na: 2", "a", "given twice, first on line 2", id="twice"),
    ],
)
def test_what_a_configuration_has_no_use_for_is_refused_by_path(
    text: str, path: str, words: str
) -> None:
    problem = only(text)

    assert problem.path == path
    assert words in problem.message


def test_aliases_are_never_expanded() -> None:
    levels = [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, 30)]
    bomb = "\n".join(["l0: &l0 [x]", *levels, "memory: {}"])

    assert len(problems_of(bomb)) == 30 + 29 * 9


def test_a_syntax_error_does_not_quote_the_file() -> None:
    assert "hunter" not in told("memory:\n  a: 'hunter2\n  b: hunter2: hunter2\n")


def test_directives_end_markers_and_windows_line_ends_are_accepted() -> None:
    assert (
        read("%YAML 1.2\n---\r\nmemory:\r\n  log_level: debug\r\n...\n").config.log_level == "debug"
    )
