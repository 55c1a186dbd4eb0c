"""Terms and their domains."""

from fastapi import APIRouter

from memory_server.api.dependencies import CallerOfRoute, ServicesOfApp
from memory_server.api.entries import ReadingScope, listed
from memory_server.api.schemas.common import QueryText
from memory_server.api.schemas.memories import Domains, Entries, TaxonomicBody, TaxonomicSaved
from memory_server.domain.memory import MemoryType
from memory_server.ports.memories import MemoryQuery

router = APIRouter(prefix="/taxonomic", tags=["taxonomic"])


@router.post("", status_code=201)
async def save_term(
    body: TaxonomicBody, caller: CallerOfRoute, services: ServicesOfApp
) -> TaxonomicSaved:
    """Save a term; for the whole project unless `visibility` says otherwise."""
    scope = caller.owner(user_id=body.user_id, visibility=body.visibility, agent_id=body.agent_id)
    memory = await services.keeping.save(scope, body.request())
    return TaxonomicSaved(
        id=memory.id, domain=body.domain, term=body.term, has_embedding=memory.has_embedding
    )


@router.get("")
async def list_terms(
    caller: CallerOfRoute, services: ServicesOfApp, scope: ReadingScope, domain: QueryText = None
) -> Entries:
    """List all live terms, of one domain if it is named."""
    query = MemoryQuery(type=MemoryType.TAXONOMIC, domain=domain)
    return await listed(services, caller, scope, query)


@router.get("/domains")
async def list_domains(services: ServicesOfApp, scope: ReadingScope) -> Domains:
    """List the domains of live terms."""
    return Domains(domains=list(await services.keeping.domains(scope)))
