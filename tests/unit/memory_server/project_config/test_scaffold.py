import re

import pytest

from memory_server.project_config import known_keys, required_keys, scaffold
from tests.unit.memory_server.project_config.reading import read


def uncommented(text: str, *, but: str = "") -> str:
    """Turn every `#key` line into a key, leave out the block of one name."""
    lines = re.sub(rf"\n  #{but}:\n(    #.*\n)+", "\n", text) if but else text
    return re.sub(r"(?m)^( *)#(?=[a-z-])", r"\1", lines)


def test_the_scaffold_loads_and_needs_no_key() -> None:
    project = read(scaffold("demo"))

    assert project.memory_only
    assert project.warnings == ()
    assert required_keys(project.config) == ()
    assert project.config.enabled == ("semantic", "episodic", "taxonomic", "procedural")
    assert not project.config.enabled_by_absence


def test_every_key_is_in_the_scaffold() -> None:
    words = set(re.findall(r"(?m)^ *#?(?:- )?([a-z_]+):", uncommented(scaffold("demo"))))
    names = {path.rpartition(".")[2] for path in known_keys()}

    # The sources of the index beside semantic are named in the comment above it.
    assert names - words == {"episodic", "taxonomic", "procedural"}


def test_its_commented_keys_are_valid_and_say_the_defaults() -> None:
    text = uncommented(scaffold("demo"), but="voyage")
    for example in ("custom_memory_types", "metadata_partition_key", "metadata_partition_index"):
        assert f"\n  {example}:\n" in text

    config, plain = read(text).config, read(scaffold("demo")).config

    assert (config.log_level, config.embedding) == (plain.log_level, plain.embedding)
    assert (config.extraction_llm, config.snapshot) == (plain.extraction_llm, plain.snapshot)
    assert [declared.name for declared in config.custom_memory_types] == ["customer_profile"]


def test_its_voyage_block_stands_in_for_the_embedding_block() -> None:
    text = re.sub(r"\n  embedding:\n(    .*\n)+", "\n", scaffold("demo"))

    assert read(uncommented(text)).config.embedding.model == "voyage-4-large"


def test_the_name_stays_in_its_comment() -> None:
    assert scaffold("My agents").startswith("# Memory configuration of My agents.\n")
    with pytest.raises(ValueError, match="line breaks"):
        scaffold("a\nmemory_only: false")
