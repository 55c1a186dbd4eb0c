"""Who calls, and the scopes of what they may touch."""

from dataclasses import dataclass, replace

from memory_server.domain.account import Principal, PrincipalKind
from memory_server.domain.policy import Action, Named, Standing, user_meant, user_reviewed
from memory_server.domain.project import Project
from memory_server.domain.scope import Scope, Visibility
from memory_server.errors import IdentityMissing


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who is calling, for which project, and what their headers say.

    A memory route gets every scope it uses from here, so that the policy holds on all of them.
    """

    principal: Principal
    project: Project
    org_id: str
    agent_id: str | None = None
    execution_id: str | None = None
    execution_user: str | None = None
    """Whose execution it is, if it is known here."""

    @property
    def project_id(self) -> str:
        """The project of the route, or the deployment's own; never one of a body."""
        return self.project.id

    def scope(
        self,
        *,
        user_id: str | None,
        visibility: Visibility | None = None,
        session_id: str | None = None,
        agent_id: str | None = None,
    ) -> Scope:
        """Return the scope of a read."""
        return Scope(
            project_id=self.project_id,
            user_id=self._user(Action.READ, user_id, visibility),
            visibility=visibility,
            session_id=session_id,
            agent_id=agent_id,
        )

    def owner(
        self,
        *,
        user_id: str | None,
        visibility: Visibility | None = None,
        session_id: str | None = None,
        agent_id: str | None = None,
    ) -> Scope:
        """Return the scope of a write: its owner, and the headers' agent if it names none.

        `visibility` is the one that the body names, None where it leaves that to the default.
        """
        return Scope(
            project_id=self.project_id,
            user_id=self._user(Action.SAVE, user_id, visibility),
            session_id=session_id,
            agent_id=agent_id or self.agent_id,
        )

    def changing(self, *, user_id: str | None) -> Scope:
        """Return the scope in which a memory may be changed."""
        return Scope(project_id=self.project_id, user_id=self._user(Action.CHANGE, user_id, None))

    def removing(self, *, user_id: str | None, visibility: Visibility | None = None) -> Scope:
        """Return the scope in which a memory may be removed."""
        return Scope(
            project_id=self.project_id,
            user_id=self._user(Action.DELETE, user_id, visibility),
            visibility=visibility,
        )

    def reviewing(self, *, user_id: str | None) -> Scope:
        """Return the scope in which what is proposed may be seen and decided."""
        return Scope(project_id=self.project_id, user_id=user_reviewed(self.principal, user_id))

    def own(self) -> Scope:
        """Return the scope of what no body names an owner of: it is the caller's own.

        A caller without an identity of theirs has what belongs to nobody. Raises
        `IdentityMissing` inside an execution whose user is not known.
        """
        user_id = self.standing.identity
        if user_id is None and self.execution_id is not None:
            raise IdentityMissing(
                "the execution is not known here, so whose records are meant is not either: call "
                "with a token of their owner, or leave the execution header out"
            )
        return Scope(
            project_id=self.project_id,
            user_id=self._user(Action.SAVE, user_id, None) if user_id else None,
            userless=user_id is None,
        )

    def stamp(self) -> Scope:
        """Return the owner of what the caller writes under their own identity."""
        return replace(self.own(), agent_id=self.agent_id)

    @property
    def standing(self) -> Standing:
        """On what ground the caller names users."""
        is_agent = self.principal.kind is PrincipalKind.EXECUTION
        return Standing(
            principal=self.principal,
            enforces=self.project.enforce_identity,
            inside=is_agent or self.execution_id is not None,
            execution_user=self.principal.id if is_agent else self.execution_user,
        )

    def _user(
        self, action: Action, user_id: str | None, visibility: Visibility | None
    ) -> str | None:
        named = Named(action=action, user_id=user_id, visibility=visibility)
        return user_meant(self.standing, named)
