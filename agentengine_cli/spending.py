"""What a server tells of its models, in words: what extraction took, and who is left alone."""

from collections.abc import Mapping
from typing import Any


def told_spending(told: object) -> str:
    """Say what a project's extraction took of the model; nothing where a server does not tell."""
    if not isinstance(told, dict):
        return ""
    parts = [
        f"{span} {_usage(told.get(name))}"
        for name, span in (("this_hour", "this hour"), ("today", "today"))
        if isinstance(told.get(name), dict)
    ]
    parts += [_budget(told.get("budget")), str(told.get("waiting") or "")]
    return "; ".join(part for part in parts if part)


def told_circuit(told: object) -> str:
    """Say that a provider is left alone, since when, why and what to do; else nothing."""
    if not isinstance(told, dict) or not told:
        return ""
    since, probe = told.get("since"), told.get("next_probe")
    return (
        f"{told.get('state')} since {since}, next probe {probe}, because {told.get('because')}; "
        f"{told.get('to_do')}"
    )


def usage_of(job: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the calls and tokens that a job took, as columns of a table."""
    result = job.get("result") or {}
    if "calls" not in result:
        return {"calls": None, "tokens": None}
    tokens = result.get("input_tokens", 0) + result.get("output_tokens", 0)
    return {"calls": result["calls"], "tokens": tokens}


def _usage(told: object) -> str:
    usage = told if isinstance(told, dict) else {}
    return (
        f"{usage.get('calls', 0)} calls, {usage.get('input_tokens', 0)} tokens in, "
        f"{usage.get('output_tokens', 0)} out"
    )


def _budget(told: object) -> str:
    budget = told if isinstance(told, dict) else {}
    bounds = (("calls", "calls_per_hour"), ("tokens", "tokens_per_hour"))
    parts = [f"{budget[name]} {what}" for what, name in bounds if budget.get(name) is not None]
    return f"budget {' and '.join(parts)} an hour" if parts else ""
