from typing import Any

import pytest

from memory_server.project_config import OPENAI_URL, effective_types_line, parse, required_keys

LOCAL = {"embedding": {"provider": "local"}, "extraction_llm": {"provider": "local"}}


@pytest.mark.parametrize(
    ("document", "keys"),
    [
        (LOCAL, {}),
        ({}, {"embedding": ["VOYAGE_API_KEY"], "extraction": ["OPENAI_API_KEY", "LLM_API_KEY"]}),
        (
            {**LOCAL, "extraction_llm": {"provider": "anthropic"}},
            {"extraction": ["ANTHROPIC_API_KEY", "LLM_API_KEY"]},
        ),
        (
            {**LOCAL, "extraction_llm": {"provider": "gemini"}},
            {"extraction": ["GEMINI_API_KEY", "LLM_API_KEY"]},
        ),
        (
            {**LOCAL, "extraction_llm": {"provider": "cerebras"}},
            {"extraction": ["CEREBRAS_API_KEY", "LLM_API_KEY"]},
        ),
        (
            {**LOCAL, "extraction_llm": {"api_key_secret": "LLM_API_KEY"}},
            {"extraction": ["LLM_API_KEY"]},
        ),
        ({**LOCAL, "embedding": {"provider": "openai"}}, {"embedding": ["OPENAI_API_KEY"]}),
        (
            {**LOCAL, "embedding": {"provider": "openai", "base_url": f"{OPENAI_URL}/"}},
            {"embedding": ["OPENAI_API_KEY"]},
        ),
        ({**LOCAL, "embedding": {"provider": "openai", "base_url": "http://own.test/v1"}}, {}),
        (
            {
                **LOCAL,
                "embedding": {
                    "provider": "openai",
                    "base_url": "http://own.test/v1",
                    "api_key_secret": "OPENAI_API_KEY",
                },
            },
            {"embedding": ["OPENAI_API_KEY"]},
        ),
        (
            {**LOCAL, "embedding": {"provider": "openai", "api_key_secret": "LLM_API_KEY"}},
            {"embedding": ["LLM_API_KEY"]},
        ),
        (
            {**LOCAL, "extraction_llm": {}, "extraction": {"enabled": []}},
            {"extraction": ["OPENAI_API_KEY", "LLM_API_KEY"]},
        ),
    ],
)
def test_a_provider_looks_for_its_names_in_order(
    document: dict[str, Any], keys: dict[str, list[str]]
) -> None:
    needed = required_keys(parse(document))

    assert {key.purpose: list(key.names) for key in needed} == keys


def test_built_in_models_need_no_key_whatever_is_configured() -> None:
    assert required_keys(parse({}), local_models=True) == ()


@pytest.mark.parametrize(
    ("extraction", "line"),
    [
        ({"enabled": ["semantic", "episodic"]}, "extraction: semantic, episodic (listed)"),
        ({"enabled": ["entity"]}, "extraction: semantic (listed)"),
        ({"enabled": []}, "extraction: none (the list is empty)"),
        ({}, "extraction: all: semantic, episodic, taxonomic, procedural (key absent)"),
    ],
)
def test_one_line_says_what_is_extracted_and_why(extraction: dict[str, Any], line: str) -> None:
    assert effective_types_line(parse({"extraction": extraction})) == line
