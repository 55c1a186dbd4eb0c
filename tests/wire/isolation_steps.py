"""What a script against the world can do: every memory route, with any scope, by any caller."""

from collections.abc import Awaitable, Callable

from memory_server.api.families import DIRECT, FLAT, PROJECT
from tests.wire import isolation_reads as reads
from tests.wire import isolation_review as review
from tests.wire import isolation_writes as writes
from tests.wire.isolation_call import ADMIN, Call, Step
from tests.wire.isolation_world import BANK, MEMORY_KINDS, SHOP, STRICT, World

Route = tuple[str, str]
"""Method, and path behind the prefix."""
Asked = Callable[[Call], Awaitable[None]]


async def play(world: World, step: Step) -> None:
    """Do one step, and check its answer and what the server keeps after it."""
    caller, _, project = step.by
    call = Call(world, step, world.callers[caller], project)
    await (ROUTES | OF_OWNERS)[step.route](call)
    await world.check_store()


ROUTES: dict[Route, Asked] = {
    ("POST", "/turns"): writes.record_turn,
    ("POST", "/stm/turns"): writes.record_turn,
    ("POST", "/types/{type_name}"): writes.save_custom,
    ("POST", "/types/{type_name}/retrieve"): reads.find_custom,
    **{("POST", f"/{kind}"): writes.save for kind in MEMORY_KINDS},
    **{("GET", f"/{kind}"): reads.list_all for kind in MEMORY_KINDS},
    **{("POST", f"/retrieval/{kind}"): reads.search for kind in MEMORY_KINDS},
    ("POST", "/search"): reads.search,
    ("POST", "/turns/search"): reads.search_turns,
    ("POST", "/blocks"): writes.record_block,
    ("GET", "/blocks"): reads.list_blocks,
    ("GET", "/blocks/{block_id}"): reads.read_block,
    ("POST", "/blocks/search"): reads.search_blocks,
    ("GET", "/proposals"): review.list_proposals,
    ("GET", "/proposals/{proposal_id}"): review.read_proposal,
    ("PATCH", "/proposals/{proposal_id}"): review.edit,
    **{("POST", f"/proposals/{{proposal_id}}/{verb}"): review.decide for verb in review.DONE},
    **{("POST", f"/proposals/{verb}"): review.decide_several for verb in review.DONE},
    ("GET", "/taxonomic/domains"): reads.list_domains,
    ("GET", "/semantic/{memory_id}"): reads.read_one,
    ("GET", "/procedural/{memory_id}"): reads.read_one,
    ("PATCH", "/semantic/{memory_id}"): writes.change,
    ("PATCH", "/procedural/{memory_id}"): writes.change,
    ("DELETE", "/procedural/{memory_id}"): writes.delete,
    ("POST", "/context"): reads.build_context,
    ("POST", "/retrieval/context"): reads.build_context,
    ("POST", "/retrieval/context-from-sources"): reads.build_context,
    ("GET", "/queueStats"): reads.count_work,
    ("GET", "/worker/queueStats"): reads.count_work,
}
"""Every memory route and method, by how a script uses it."""

OF_OWNERS: dict[Route, Asked] = {
    ("GET", f"{ADMIN}/memories"): reads.show_all,
    ("GET", f"{ADMIN}/memories/{{memory_id}}"): reads.show_one,
    ("GET", f"{ADMIN}/memories/{{memory_id}}/history"): reads.show_history,
    ("DELETE", f"{ADMIN}/scope"): writes.erase,
    ("GET", f"{ADMIN}/export"): reads.export,
}
"""Administration that reads or removes memory."""

CALLS = (
    ("anonymous", FLAT, SHOP),
    ("anonymous", DIRECT, SHOP),
    ("owner", FLAT, SHOP),
    ("owner", PROJECT, SHOP),
    ("owner", PROJECT, BANK),
    ("owner", PROJECT, STRICT),
    ("account of shop", PROJECT, SHOP),
    ("account of shop", DIRECT, SHOP),
    ("account of bank", PROJECT, BANK),
    ("agent of ana", FLAT, SHOP),
    ("agent of ana", PROJECT, SHOP),
    ("agent of ana", PROJECT, BANK),
    ("ana", PROJECT, STRICT),
    ("bob", PROJECT, STRICT),
    # These are let in nowhere, or only to read.
    ("anonymous", PROJECT, SHOP),
    ("account of shop", PROJECT, BANK),
    ("account of bank", FLAT, SHOP),
    ("reader of shop", FLAT, SHOP),
    ("ana", PROJECT, BANK),
)
