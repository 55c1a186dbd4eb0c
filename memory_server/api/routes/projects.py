"""Projects: making, seeing, changing and removing them."""

from fastapi import APIRouter

from memory_server.api.dependencies import Founder, Keyholder, ServicesOfApp, Visitor
from memory_server.api.schemas.projects import ProjectBody, ProjectDocument, ProjectPatch, Projects
from memory_server.domain.policy import check_project, may_see_project

router = APIRouter(prefix="/projects", tags=["projects"])


@router.post("", status_code=201)
async def create_project(
    body: ProjectBody, founder: Founder, services: ServicesOfApp
) -> ProjectDocument:
    """Make a project."""
    project = await services.projects.create(
        body.name, description=body.description, project_id=body.id
    )
    return ProjectDocument.of(project, services.settings.org_id)


@router.get("")
async def list_projects(visitor: Visitor, services: ServicesOfApp) -> Projects:
    """List the projects that the caller may see: all, or the one they belong to."""
    found = [one for one in await services.projects.list() if may_see_project(visitor, one.id)]
    documents = [ProjectDocument.of(project, services.settings.org_id) for project in found]
    return Projects(projects=documents, total=len(documents))


@router.get("/{project_id}")
async def read_project(
    project_id: str, visitor: Visitor, services: ServicesOfApp
) -> ProjectDocument:
    """Return one project."""
    check_project(visitor, project_id)
    return ProjectDocument.of(await services.projects.get(project_id), services.settings.org_id)


@router.patch("/{project_id}")
async def change_project(
    body: ProjectPatch, owner: Keyholder, services: ServicesOfApp
) -> ProjectDocument:
    """Change a project; what is changed holds from the next request on.

    No program may: it would let itself name users.
    """
    project = await services.projects.change(owner.project_id, body.changes())
    return ProjectDocument.of(project, owner.org_id)


@router.delete("/{project_id}", status_code=204)
async def remove_project(owner: Keyholder, services: ServicesOfApp) -> None:
    """Remove an empty project with its service accounts and members."""
    await services.projects.remove(owner.project_id)
