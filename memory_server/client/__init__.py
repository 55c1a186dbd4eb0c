"""The typed client of the memory server."""

from memory_server.client.archive import ArchiveClient, Imported
from memory_server.client.archive_file import ArchiveCheck, Checked, check, is_head, portions
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
    FoundMemory,
    FoundRecord,
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
from memory_server.domain.tokens import TOKENIZER, count_tokens

__all__ = [
    "TOKENIZER",
    "AccountDocument",
    "Applied",
    "ArchiveCheck",
    "ArchiveClient",
    "Checked",
    "ConfigDocument",
    "ConfigStored",
    "DeploymentClient",
    "Erased",
    "Flushed",
    "FoundMemory",
    "FoundRecord",
    "Imported",
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
    "check",
    "count_tokens",
    "is_head",
    "portions",
]
