import ast
import re
from pathlib import Path

from agentengine_cli.control.environment import PROVIDER_KEYS, SETTINGS
from memory_server import settings

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "environment.md").read_text("utf-8")
ROWS = dict(re.findall(r"^\| `([A-Z_]+)` \| ([\w.]+) \|", PAGE, re.MULTILINE))
OF_LIBRARIES = {*re.findall(r"`([A-Z_]+)`", PAGE.rpartition("Libraries read")[2])}


def test_every_setting_of_the_server_is_in_the_table_and_no_other() -> None:
    tree = ast.parse(Path(settings.__file__).read_text("utf-8"))
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    read = {text for text in texts if re.fullmatch(r"[A-Z]+(?:_[A-Z]+)+", str(text))}

    assert set(ROWS) == read


def test_what_the_local_commands_pass_on_is_marked() -> None:
    marked = {name for name, set_by in ROWS.items() if set_by == ".env"}

    assert marked | OF_LIBRARIES == {*PROVIDER_KEYS, *SETTINGS}
