"""Walking through what waits, on a terminal: one proposal after the other."""

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agentengine_cli import review_text
from agentengine_cli.connection import Server
from agentengine_cli.output import Output
from memory_server.errors import (
    InvalidRequest,
    ProposalChanged,
    ProposalDecided,
    ProposalNotFound,
    TooLarge,
)

if TYPE_CHECKING:
    from memory_server.client import ProposalDocument, ProposalPage

KEYS = "[a]pprove, [e]dit, [r]eject, [s]kip, [q]uit? "
REASON = "Why (Enter: no reason): "
PAGE = 50


@dataclass(kw_only=True)
class Review:
    """One walk, and what was decided on the way."""

    server: Server
    output: Output
    user_id: str | None = None
    type: str | None = None
    tally: Counter[str] = field(default_factory=Counter)

    def walk(self) -> None:
        """Ask for each proposal that waits, until all were seen or the user has had enough."""
        after: str | None = None
        while True:
            page = self._page(after)
            for proposal in page["proposals"]:
                if not self._goes_on_after(proposal["id"]):
                    return
            after = page["next"]
            if after is None:
                return

    def _page(self, after: str | None) -> "ProposalPage":
        return self.server.ask(
            lambda client: client.proposals.list(
                state="pending", user_id=self.user_id, type=self.type, after=after, limit=PAGE
            )
        )

    def _goes_on_after(self, proposal_id: str) -> bool:
        """Ask until a proposal is decided or skipped; return whether to go on to the next."""
        while (proposal := self._shown(proposal_id)) is not None:
            try:
                key = self.output.ask(KEYS).strip().lower()[:1]
                if key == "q":
                    return False
                if key == "s" or self._is_decided(key, proposal):
                    self.output.result("")
                    return True
            except EOFError:
                self.output.note("")
                return False
            except (ProposalChanged, ProposalDecided, InvalidRequest, TooLarge) as error:
                self.output.note(f"Not done: {error}")
        return True

    def _shown(self, proposal_id: str) -> "ProposalDocument | None":
        """Show a proposal and return it; None: it waits no more."""
        try:
            proposal = self.server.ask(lambda client: client.proposals.get(proposal_id))
        except ProposalNotFound:  # erased meanwhile
            return None
        for line in review_text.shown(proposal, self.output.wrapped):
            self.output.result(line)
        return proposal if proposal["state"] == "pending" else None

    def _is_decided(self, key: str, proposal: "ProposalDocument") -> bool:
        """Do what a key says; return whether the proposal waits no more."""
        of, seen = proposal["id"], proposal["revision"]
        match key:
            case "a":
                done = self.server.ask(lambda client: client.proposals.approve(of, revision=seen))
            case "r":
                reason = self.output.ask(REASON).strip() or None
                done = self.server.ask(
                    lambda client: client.proposals.reject(of, reason=reason, revision=seen)
                )
            case "e":
                self._edit(proposal)
                return False
            case _:
                return False
        for warning in done.get("warnings") or ():
            self.output.warning(warning)
        self.tally[done["state"]] += 1
        return True

    def _edit(self, proposal: "ProposalDocument") -> None:
        """Ask for new words, field by field; what is left blank stays."""
        words = {}
        for name, text in proposal["words"].items():
            self.output.note(f"{name} is: {text}")
            given = self.output.ask(f"{name} (Enter: as it is): ").strip()
            if given:
                words[name] = given
        if words:
            of, seen = proposal["id"], proposal["revision"]
            self.server.ask(lambda client: client.proposals.edit(of, words, revision=seen))
