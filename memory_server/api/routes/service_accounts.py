"""Managing service accounts; the owner token opens it."""

from typing import Annotated

from fastapi import APIRouter, Depends

from memory_server.api.dependencies import Caller, owner
from memory_server.api.entries import ServicesOfApp
from memory_server.api.schemas.accounts import (
    AccountBody,
    AccountDocument,
    Accounts,
    AddressesBody,
    Issued,
    OneAccount,
    RotateBody,
)

router = APIRouter(prefix="/projects/{project_id}/service-accounts", tags=["service accounts"])

Owner = Annotated[Caller, Depends(owner)]


@router.post("", status_code=201)
async def create_account(body: AccountBody, owner: Owner, services: ServicesOfApp) -> Issued:
    """Make a service account; its secret is told only in this answer."""
    return Issued.of(await services.identity.create_account(owner.project_id, body.account()))


@router.get("")
async def list_accounts(owner: Owner, services: ServicesOfApp) -> Accounts:
    """List the project's service accounts."""
    found = await services.identity.list_accounts(owner.project_id)
    return Accounts(service_accounts=[*map(AccountDocument.of, found)], total=len(found))


@router.get("/{client_id}")
async def read_account(client_id: str, owner: Owner, services: ServicesOfApp) -> OneAccount:
    """Return one service account."""
    account = await services.identity.account(owner.project_id, client_id)
    return OneAccount(service_account=AccountDocument.of(account))


@router.post("/{client_id}/rotate")
async def rotate_secret(
    client_id: str, owner: Owner, services: ServicesOfApp, body: RotateBody | None = None
) -> Issued:
    """Give an account a new secret; the former one stays valid for its grace."""
    issued = await services.identity.rotate_secret(
        owner.project_id,
        client_id,
        secret_hours=(body or RotateBody()).secret_expires_after_hours,
    )
    return Issued.of(issued)


@router.put("/{client_id}/ip-access-list")
async def set_addresses(
    client_id: str, body: AddressesBody, owner: Owner, services: ServicesOfApp
) -> OneAccount:
    """Replace the list of addresses an account may call from."""
    account = await services.identity.set_ip_access_list(
        owner.project_id, client_id, body.ip_access_list
    )
    return OneAccount(service_account=AccountDocument.of(account))


@router.delete("/{client_id}", status_code=204)
async def delete_account(client_id: str, owner: Owner, services: ServicesOfApp) -> None:
    """Remove an account; its tokens are refused from the next request on."""
    await services.identity.delete_account(owner.project_id, client_id)
