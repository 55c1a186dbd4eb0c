"""What somebody said on their own evening, shown with the words it rests on."""

import json
from pathlib import Path

import pytest

from tests.acceptance.conftest import Shell

EVENING = "2026-03-12T22:30:00-05:00"
"""A Thursday there, and the day after in UTC; at the end of the world it is still this day."""
SAID = "I adopted a cat called Milo today."


@pytest.mark.parametrize("zone", ["Pacific/Midway", "Pacific/Kiritimati"])
def test_today_is_the_speakers_day_wherever_the_server_stands(
    project: Shell, tmp_path: Path, zone: str
) -> None:
    with (project.directory / ".env").open("a", encoding="utf-8") as dotenv:
        dotenv.write(f"TZ={zone}\n")
    line = {"session_id": "s1", "user_id": "ana", "role": "user", "content": SAID}
    file = tmp_path / "turns.jsonl"
    file.write_text(json.dumps(line | {"timestamp": EVENING}), encoding="utf-8")
    project.ok("memory", "apply", "--wait")
    project.ok("memory", "import", str(file))
    project.ok("memory", "flush")

    found = project.ok("memory", "show", "--user-id", "ana", "--type", "semantic", "--json")
    dated = [one for one in found.document["memories"] if one["event_time"]]
    (memory,) = [one for one in dated if "adopted" in one["content"]]
    shown = project.ok("memory", "show", memory["id"], "--evidence")

    event = memory["event_time"]
    assert (event["start"], event["end"]) == (
        "2026-03-12T00:00:00-05:00",
        "2026-03-13T00:00:00-05:00",
    )
    assert (event["precision"], event["in_words"]) == ("day", "on 12 March 2026")
    told = " ".join(shown.out.split())
    assert "took place on 12 March 2026, said as 'today'" in told
    assert f"[1] user, 2026-03-12 22:30: {SAID}" in told
