"""Projects on the wire."""

from pydantic import Field

from memory_server.api.schemas.common import Answer, Body, Flag
from memory_server.domain.limits import MAX_DESCRIPTION, MAX_NAME, MAX_PROJECT_ID
from memory_server.domain.project import Project
from memory_server.services.projects import ProjectChanges


class ProjectBody(Body):
    """A project to be made."""

    name: str = Field(max_length=MAX_NAME)
    description: str = Field(default="", max_length=MAX_DESCRIPTION)
    id: str | None = Field(default=None, max_length=MAX_PROJECT_ID)
    """Letters, digits, dot, underscore and hyphen; without one, made from the name."""


class ProjectPatch(Body):
    """What is to be different; null leaves it alone."""

    name: str | None = Field(default=None, max_length=MAX_NAME)
    description: str | None = Field(default=None, max_length=MAX_DESCRIPTION)
    enforce_identity: Flag | None = None
    """Whether people may name only themselves as user, and callers without a token are refused."""
    allow_delegation: Flag | None = None
    """Whether a service account that invokes an agent may name a user."""

    def changes(self) -> ProjectChanges:
        """Return what is to be changed."""
        return ProjectChanges(
            name=self.name,
            description=self.description,
            enforce_identity=self.enforce_identity,
            allow_delegation=self.allow_delegation,
        )


class ProjectDocument(Answer):
    """A project."""

    id: str
    name: str
    org_id: str
    description: str
    enforce_identity: bool
    allow_delegation: bool
    created_at: str
    updated_at: str

    @classmethod
    def of(cls, project: Project, org_id: str) -> "ProjectDocument":
        """Return a project as it travels."""
        return cls(
            id=project.id,
            name=project.name,
            org_id=org_id,
            description=project.description,
            enforce_identity=project.enforce_identity,
            allow_delegation=project.allow_delegation,
            created_at=project.created_at.isoformat(),
            updated_at=project.updated_at.isoformat(),
        )


class Projects(Answer):
    """The projects that the caller may see, the oldest first."""

    projects: list[ProjectDocument]
    total: int
