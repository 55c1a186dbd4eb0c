"""What goes on whatever configuration the services have."""

import os
import secrets

from memory_server.application import Lasting
from memory_server.domain.server import Server
from memory_server.ports.clock import Clock
from memory_server.ports.deployment import DeploymentRecords
from memory_server.ports.store import Store
from memory_server.providers.agents.factory import build_agent
from memory_server.providers.owner_token import read_or_make
from memory_server.providers.system import TimeOrderedIds
from memory_server.services.configuration import running_config
from memory_server.services.executions import ExecutionKeeping
from memory_server.services.identity import Identity
from memory_server.services.members import MemberKeeping
from memory_server.services.projects import ProjectKeeping
from memory_server.services.servers import Presence, fingerprint_of
from memory_server.services.service_accounts import ServiceAccounts
from memory_server.services.tokens import Tokens
from memory_server.settings import Settings, package_version
from memory_server.storage.files import DeploymentDirectory
from memory_server.worker.duties import standing_duties
from memory_server.worker.schedule import Schedule


def lasting_of(
    settings: Settings, store: Store, clock: Clock, records: DeploymentRecords | None
) -> Lasting:
    """Join it; without `records`, the configuration is kept in files in the data directory."""
    owner_token = read_or_make(settings.owner_token_file or settings.data_dir / "owner-token")
    tokens = Tokens(clock=clock, owner_token=owner_token)
    me = _server(settings, owner_token, clock)
    executions = ExecutionKeeping(
        executions=store.executions, clock=clock, ids=TimeOrderedIds(clock), server_id=me.id
    )
    presence = Presence(servers=store.servers, clock=clock, me=me)
    standing = standing_duties(
        presence=presence, executions=executions, attempts=store.attempts, clock=clock
    )
    return Lasting(
        owner_token=owner_token,
        identity=Identity(
            accounts=store.accounts,
            members=store.members,
            tokens=tokens,
            owner_token=owner_token,
            executions=executions,
        ),
        service_accounts=ServiceAccounts(
            accounts=store.accounts, attempts=store.attempts, clock=clock, tokens=tokens
        ),
        projects=ProjectKeeping(projects=store.projects, clock=clock, own=settings.project_id),
        members=MemberKeeping(
            members=store.members, attempts=store.attempts, clock=clock, tokens=tokens
        ),
        executions=executions,
        presence=presence,
        standing=Schedule(clock=clock, duties=standing),
        records=records or DeploymentDirectory(settings.data_dir),
        agent=build_agent(settings, badges=executions),
    )


def _server(settings: Settings, owner_token: str, clock: Clock) -> Server:
    host, pid, now = os.uname().nodename, os.getpid(), clock.now()
    return Server(
        id=f"{host}:{pid}:{secrets.token_hex(4)}",
        host=host,
        pid=pid,
        role=settings.role,
        version=package_version(),
        config_digest=running_config(settings, since=now).digest,
        owner_fingerprint=fingerprint_of(owner_token),
        started_at=now,
        seen_at=now,
    )
