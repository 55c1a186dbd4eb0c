"""Managing service accounts, of a project and of the organization."""

from typing import Annotated

from fastapi import APIRouter, Depends

from memory_server.api.dependencies import NOT_KEPT, Keyholder, Organization, ServicesOfApp
from memory_server.api.schemas.accounts import (
    AccountBody,
    AccountDocument,
    AccountPatch,
    Accounts,
    AddressesBody,
    Issued,
    OneAccount,
    RotateBody,
)


async def of_project(owner: Keyholder) -> str | None:
    """Return the project whose accounts are meant."""
    return owner.project_id


async def of_organization(organization: Organization) -> str | None:
    """Return that the organization's accounts are meant: those of no project."""
    return None


def _router(prefix: str, whose: object, name: str) -> APIRouter:
    """Return the routes for the accounts of one kind of owner."""
    router = APIRouter(prefix=prefix, tags=["service accounts"])
    Home = Annotated[str | None, Depends(whose)]  # noqa: N806 a type

    @router.post("", status_code=201, name=f"create_{name}_account", dependencies=[NOT_KEPT])
    async def create_account(home: Home, body: AccountBody, services: ServicesOfApp) -> Issued:
        """Make a service account; its secret is told only in this answer."""
        return Issued.of(await services.service_accounts.create(home, body.account()))

    @router.get("", name=f"list_{name}_accounts")
    async def list_accounts(home: Home, services: ServicesOfApp) -> Accounts:
        """List the service accounts."""
        found = await services.service_accounts.list(home)
        return Accounts(service_accounts=[*map(AccountDocument.of, found)], total=len(found))

    @router.get("/{client_id}", name=f"read_{name}_account")
    async def read_account(client_id: str, home: Home, services: ServicesOfApp) -> OneAccount:
        """Return one service account."""
        account = await services.service_accounts.get(home, client_id)
        return OneAccount(service_account=AccountDocument.of(account))

    @router.patch("/{client_id}", name=f"change_{name}_account")
    async def change_account(
        client_id: str, home: Home, body: AccountPatch, services: ServicesOfApp
    ) -> OneAccount:
        """Change whether an account may call, from its next request on, or its description."""
        account = await services.service_accounts.change(
            home, client_id, is_active=body.is_active, description=body.description
        )
        return OneAccount(service_account=AccountDocument.of(account))

    @router.post("/{client_id}/rotate", name=f"rotate_{name}_secret", dependencies=[NOT_KEPT])
    async def rotate_secret(
        client_id: str, home: Home, services: ServicesOfApp, body: RotateBody | None = None
    ) -> Issued:
        """Give an account a new secret; the former one stays valid for its grace."""
        issued = await services.service_accounts.rotate_secret(
            home, client_id, secret_hours=(body or RotateBody()).secret_expires_after_hours
        )
        return Issued.of(issued)

    @router.put("/{client_id}/ip-access-list", name=f"set_{name}_addresses")
    async def set_addresses(
        client_id: str, home: Home, body: AddressesBody, services: ServicesOfApp
    ) -> OneAccount:
        """Replace the list of addresses an account may call from."""
        account = await services.service_accounts.set_ip_access_list(
            home, client_id, body.ip_access_list
        )
        return OneAccount(service_account=AccountDocument.of(account))

    @router.delete("/{client_id}", status_code=204, name=f"delete_{name}_account")
    async def delete_account(client_id: str, home: Home, services: ServicesOfApp) -> None:
        """Remove an account; its tokens are refused from the next request on."""
        await services.service_accounts.delete(home, client_id)

    return router


router = APIRouter()
router.include_router(_router("/projects/{project_id}/service-accounts", of_project, "project"))
router.include_router(
    _router("/organizations/{org_id}/service-accounts", of_organization, "organization")
)
