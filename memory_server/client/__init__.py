"""The typed client of the memory server."""

from memory_server.client.bearer import TokenSource
from memory_server.client.client import MemoryServerClient
from memory_server.client.deployment import (
    Applied,
    ConfigDocument,
    ConfigStored,
    DeploymentClient,
    RuntimeDocument,
    SecretDocument,
)
from memory_server.client.platform import Platform
from memory_server.client.shapes import (
    AccountDocument,
    Erased,
    Flushed,
    InvokeAnswer,
    IssuedAccount,
    JobCountsDocument,
    JobDocument,
    JobList,
    MemberDocument,
    MemoryDocument,
    NewMember,
    PrincipalDocument,
    ProjectDocument,
    ProjectList,
    QueueStats,
    RecordedTurn,
    Session,
    StreamFrame,
    Token,
)
from memory_server.client.transport import ServerTimeout, ServerUnreachable

__all__ = [
    "AccountDocument",
    "Applied",
    "ConfigDocument",
    "ConfigStored",
    "DeploymentClient",
    "Erased",
    "Flushed",
    "InvokeAnswer",
    "IssuedAccount",
    "JobCountsDocument",
    "JobDocument",
    "JobList",
    "MemberDocument",
    "MemoryDocument",
    "MemoryServerClient",
    "NewMember",
    "Platform",
    "PrincipalDocument",
    "ProjectDocument",
    "ProjectList",
    "QueueStats",
    "RecordedTurn",
    "RuntimeDocument",
    "SecretDocument",
    "ServerTimeout",
    "ServerUnreachable",
    "Session",
    "StreamFrame",
    "Token",
    "TokenSource",
]
