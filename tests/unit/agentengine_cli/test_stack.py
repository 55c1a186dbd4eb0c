from pathlib import Path

import pytest

from agentengine_cli.stack import (
    DevSettings,
    InvalidStackFile,
    NoProjectConfig,
    Stack,
    dev_settings,
    find,
    find_existing,
)

CONFIG = "project-config.yaml"
MEMORY_ONLY = "memory_only: true\nmemory: {}\n"
PLAIN = "memory: {}\n"


def tree(root: Path, files: dict[str, str]) -> Path:
    """Write files below a repository's root and return that root."""
    (root / ".git").mkdir()
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return root.resolve()


def test_agent_uses_the_configuration_above_it(tmp_path: Path) -> None:
    root = tree(tmp_path, {CONFIG: PLAIN, "agents/a/agent.yaml": "", "agents/a/src/x.py": ""})

    found = find(root / "agents/a/src")

    assert (found.root, found.config) == (root / "agents/a", root / CONFIG)


def test_nearest_configuration_wins_in_a_monorepo(tmp_path: Path) -> None:
    root = tree(tmp_path, {CONFIG: PLAIN, "a/agent.yaml": "", f"a/{CONFIG}": PLAIN})

    assert find(root / "a").config == root / "a" / CONFIG


def test_memory_only_configuration_is_a_stack_of_its_own(tmp_path: Path) -> None:
    root = tree(tmp_path, {CONFIG: MEMORY_ONLY, "src/deep/x.py": ""})

    assert find(root / "src/deep").root == root


def test_plain_configuration_counts_only_in_the_directory_itself(tmp_path: Path) -> None:
    root = tree(tmp_path, {CONFIG: PLAIN, "src/x.py": ""})

    assert find(root).config == root / CONFIG
    with pytest.raises(NoProjectConfig, match="looked up to") as refused:
        find(root / "src")
    assert f"cd {root}" in str(refused.value.hint)


def test_walk_ends_at_the_repository(tmp_path: Path) -> None:
    (tmp_path / CONFIG).write_text(MEMORY_ONLY)
    inner = tmp_path / "repository"
    inner.mkdir()
    tree(inner, {"src/x.py": ""})

    with pytest.raises(NoProjectConfig):
        find(inner / "src")


def test_stack_without_any_configuration_in_reach_is_an_error(tmp_path: Path) -> None:
    root = tree(tmp_path, {"agent.yaml": ""})

    with pytest.raises(NoProjectConfig, match="The stack in"):
        find(root)


def test_unreadable_configuration_is_not_passed_over(tmp_path: Path) -> None:
    root = tree(tmp_path, {CONFIG: MEMORY_ONLY, f"a/{CONFIG}": "memory: [", "a/b/x.py": ""})

    assert find(root / "a/b").config == root / "a" / CONFIG


def test_file_may_be_named_itself(tmp_path: Path) -> None:
    root = tree(tmp_path, {"other.yaml": PLAIN})

    assert find(root / "other.yaml").config == root / "other.yaml"


def test_all_looks_only_at_the_repository_root(tmp_path: Path) -> None:
    root = tree(tmp_path, {CONFIG: PLAIN, "a/agent.yaml": "", f"a/{CONFIG}": PLAIN})

    assert find(root / "a", repository_root=True).config == root / CONFIG


def test_state_is_still_found_when_the_configuration_was_deleted(tmp_path: Path) -> None:
    root = tree(tmp_path, {".agentengine/stored.json": "{}", "src/x.py": ""})

    assert find_existing(root / "src") == Stack(root=root, project=root, config=None)


def test_all_finds_the_state_of_the_root_though_its_configuration_is_gone(tmp_path: Path) -> None:
    root = tree(tmp_path, {".agentengine/stored.json": "{}", f"a/{CONFIG}": PLAIN})

    found = find_existing(root / "a", repository_root=True)

    assert found == Stack(root=root, project=root, config=None)


def test_dotenv_beside_the_stack_is_preferred(tmp_path: Path) -> None:
    root = tree(tmp_path, {CONFIG: PLAIN, ".env": "", "a/agent.yaml": ""})
    assert find(root / "a").dotenv == root / ".env"

    (root / "a/.env").touch()

    assert find(root / "a").dotenv == root / "a/.env"


def test_dev_yaml_pins_the_port_and_asks_for_an_external_database(tmp_path: Path) -> None:
    pins = "services:\n  memory: {port: 8081}\n  mongodb: {local: false}\n"
    root = tree(tmp_path, {CONFIG: MEMORY_ONLY, "dev.yaml": pins})

    assert dev_settings(find(root)) == DevSettings(memory_port=8081, local_mongodb=False)


@pytest.mark.parametrize("port", ["0", "65536", "yes", "'8081'", "1.5"])
def test_port_that_is_none_is_refused_by_path(tmp_path: Path, port: str) -> None:
    pins = f"services: {{memory: {{port: {port}}}}}\n"
    root = tree(tmp_path, {CONFIG: MEMORY_ONLY, "dev.yaml": pins})

    with pytest.raises(InvalidStackFile, match=r"dev\.yaml: services\.memory\.port"):
        dev_settings(find(root))
