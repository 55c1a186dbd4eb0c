"""Logging people in and out."""

from fastapi import APIRouter, Request

from memory_server.api.dependencies import NOT_KEPT, ServicesOfApp, Visitor, address_of, bearer_of
from memory_server.api.schemas.auth import LoginAnswer, LoginBody, PrincipalDocument, RefreshBody

router = APIRouter(prefix="/auth", tags=["tokens"])


@router.post("/login", dependencies=[NOT_KEPT])
async def log_in(body: LoginBody, services: ServicesOfApp, request: Request) -> LoginAnswer:
    """Exchange a member's password for tokens."""
    logged_in = await services.members.log_in(
        body.username, body.password, project_id=body.project_id, address=address_of(request)
    )
    return LoginAnswer.of(logged_in, services.settings.org_id)


@router.post("/refresh", dependencies=[NOT_KEPT])
async def refresh(body: RefreshBody, services: ServicesOfApp) -> LoginAnswer:
    """Exchange a refresh token for new tokens; it ends, and using it again ends the login."""
    logged_in = await services.members.refresh(body.refresh_token)
    return LoginAnswer.of(logged_in, services.settings.org_id)


@router.get("/me")
async def show_caller(visitor: Visitor, services: ServicesOfApp) -> PrincipalDocument:
    """Say whose token it is."""
    return PrincipalDocument.of(visitor, services.settings.org_id)


@router.post("/logout", status_code=204)
async def log_out(visitor: Visitor, services: ServicesOfApp, request: Request) -> None:
    """End the login of the token that is presented; nothing happens to what is no login's."""
    await services.members.log_out(visitor, bearer_of(request.headers) or "")
