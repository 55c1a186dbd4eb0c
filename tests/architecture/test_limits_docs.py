import ast
from pathlib import Path

from memory_server.domain import limits
from tests.architecture.limits_docs import DOCUMENT, document


def test_the_reference_of_limits_is_what_the_server_keeps_to() -> None:
    assert DOCUMENT.read_text(encoding="utf-8") == document(), (
        "run: python -m tests.architecture.limits_docs"
    )


def test_every_number_has_a_part_in_a_row_of_the_reference() -> None:
    tree = ast.parse(Path(limits.__file__).read_text(encoding="utf-8"))
    rows = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Limit"
    ]
    told = {node.id for row in rows for node in ast.walk(row) if isinstance(node, ast.Name)}
    numbers = {name for name, value in vars(limits).items() if isinstance(value, int | float)}

    assert numbers
    assert numbers <= told
