"""Whether services that were joined could serve."""

from collections.abc import Sequence

from memory_server.domain.characters import whole
from memory_server.errors import MemoryServerError, RollFailed
from memory_server.services.reembedding import Reembedding
from memory_server.services.release import R


async def proven(release: R, current: R) -> Sequence[str]:
    """Return once the models answer; those that serve already may go on failing.

    Returns what fails of these. Raises `RollFailed` for what fails of the others.
    """
    await release.readiness.probe()
    look = await release.readiness.look()
    told = {"embedding": look.embedding["problem"], "extraction": look.extraction["problem"]}
    if release.settings.answers is not None:
        told["embedding"] = await _why_not(release.reembedding)
    failing = {part: f"{part}: {problem}" for part, problem in told.items() if problem}
    new = [text for part, text in failing.items() if not release.shares(part, current)]
    if new:
        raise roll_failed(new)
    return list(failing.values())


def roll_failed(problems: Sequence[str]) -> RollFailed:
    """Return the error for services that do not come to serve."""
    return RollFailed(
        f"the services with the new configuration are not ready: {'; '.join(problems)}. Those "
        "before serve on as they are"
    )


async def _why_not(reembedding: Reembedding) -> str | None:
    """Return why the vectors of another model cannot be made, or None if they can."""
    try:
        await reembedding.check()
    except MemoryServerError as error:
        return whole(str(error))
    return None
