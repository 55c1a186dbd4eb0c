"""What a search answers, as items that name the turns they rest on."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from evaluation.pipelines.place import Place
from evaluation.records import FoundItem
from memory_server.client import count_tokens


def item(
    *,
    id: str,
    source: str,
    content: str,
    score: float | None,
    turns: Sequence[str],
    place: Place,
    at: str | None = None,
) -> FoundItem:
    """Return one find."""
    return FoundItem(
        id=id,
        source=source,
        content=content,
        score=score,
        turns=turns,
        sessions=place.sessions_of(turns),
        tokens=count_tokens(content),
        at=datetime.fromisoformat(at) if at and place.is_dated(turns) else None,
    )


def of_turn(found: Mapping[str, Any], place: Place) -> FoundItem:
    """Return a turn that was found."""
    about = found["metadata"]
    key = place.turn(str(about.get("session_id")), int(about.get("turn_seq", 0)))
    speaker = about.get("speaker") or about.get("role")
    return item(
        id=found["id"],
        source=found["source"],
        content=f"{speaker}: {found['content']}",
        score=found.get("similarity_score"),
        turns=() if key is None else (key,),
        place=place,
        at=found.get("timestamp"),
    )
