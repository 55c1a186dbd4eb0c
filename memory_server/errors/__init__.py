"""Errors the memory server raises, free of any transport.

* MemoryServerError
  + InvalidRequest
    - InvalidFilter
    - UndeclaredPath
      . PublishingPath
    - IdentityMissing
    - InvalidSecret
    - InvalidArchive
      . ArchiveTooNew
  + NotFound
    - MemoryNotFound
    - SnapshotNotFound
    - JobNotFound
    - ProposalNotFound
    - AccountNotFound
    - MemberNotFound
    - OrganizationNotFound
    - UnknownCustomType
    - ProjectNotFound
    - ExecutionNotFound
    - SecretNotFound
  + Forbidden
    - NotAuthenticated
      . TokenExpired
    - IdentityRefused
  + Conflict
    - VersionConflict
    - DuplicateMemory
    - AlreadyPromoted
    - LeaseLost
    - ProposalDecided
    - ProposalChanged
    - DuplicateName
    - ProjectNotEmpty
    - ProjectInUse
    - ExecutionCancelled
    - NotSuspended
    - ManagedElsewhere
    - NothingStored
    - ApplyInProgress
    - EmbeddingSpaceChanged
    - ProviderKeyMissing
    - SecretNotServed
    - TooManySecrets
    - VectorsOfAnotherSpace
    - NoBackup
  + LimitExceeded
    - TooLarge
    - RateLimited
    - Overloaded
    - BodyTooSlow
    - DeadlineExceeded
  + StorageError
    - StorageUnavailable
      . StorageUnusable
    - StorageFull
    - StorageLocked
    - StorageCorrupt
    - SchemaTooNew
  + ProviderError
    - ProviderUnavailable
    - RequestRejected
    - ProviderRateLimited
    - KeyRejected
    - KeyMissing
    - ModelNotFound
    - ProviderMissing
    - Refused
    - InvalidAnswer
    - InputTooLong
    - WrongDimension
  + BudgetSpent
  + AllSourcesFailed
  + SourceNotIndexed
  + InvalidProjectConfig
  + AgentError
    - AgentUnloadable
    - AgentRaised
    - AgentEnded
    - AgentTimedOut
    - WrongAgentAnswer
    - AgentAnswerTooLong
    - AgentBusy
  + RollFailed
  + WorkerOnly
"""

from memory_server.errors.agents import (
    AgentAnswerTooLong,
    AgentBusy,
    AgentEnded,
    AgentError,
    AgentRaised,
    AgentTimedOut,
    AgentUnloadable,
    ExecutionCancelled,
    ExecutionNotFound,
    NotSuspended,
    WrongAgentAnswer,
)
from memory_server.errors.archive import (
    ArchiveTooNew,
    InvalidArchive,
    NoBackup,
    VectorsOfAnotherSpace,
)
from memory_server.errors.deployment import (
    ApplyInProgress,
    EmbeddingSpaceChanged,
    InvalidProjectConfig,
    InvalidSecret,
    ManagedElsewhere,
    NothingStored,
    ProviderKeyMissing,
    RollFailed,
    SecretNotFound,
    SecretNotServed,
    TooManySecrets,
    WorkerOnly,
)
from memory_server.errors.identity import (
    AccountNotFound,
    DuplicateName,
    IdentityRefused,
    MemberNotFound,
    NotAuthenticated,
    OrganizationNotFound,
    ProjectInUse,
    ProjectNotEmpty,
    ProjectNotFound,
    TokenExpired,
)
from memory_server.errors.load import (
    BodyTooSlow,
    DeadlineExceeded,
    Overloaded,
    RateLimited,
    TooLarge,
)
from memory_server.errors.memory import (
    AllSourcesFailed,
    AlreadyPromoted,
    DuplicateMemory,
    IdentityMissing,
    InvalidFilter,
    JobNotFound,
    LeaseLost,
    MemoryNotFound,
    ProposalChanged,
    ProposalDecided,
    ProposalNotFound,
    PublishingPath,
    SnapshotNotFound,
    SourceNotIndexed,
    UndeclaredPath,
    UnknownCustomType,
    VersionConflict,
)
from memory_server.errors.providers import (
    BudgetSpent,
    InputTooLong,
    InvalidAnswer,
    KeyMissing,
    KeyRejected,
    ModelNotFound,
    ProviderError,
    ProviderMissing,
    ProviderRateLimited,
    ProviderUnavailable,
    Refused,
    RequestRejected,
    WrongDimension,
)
from memory_server.errors.root import (
    Conflict,
    Forbidden,
    InvalidRequest,
    LimitExceeded,
    MemoryServerError,
    NotFound,
)
from memory_server.errors.storage import (
    SchemaTooNew,
    StorageCorrupt,
    StorageError,
    StorageFull,
    StorageLocked,
    StorageUnavailable,
    StorageUnusable,
)

__all__ = [
    "AccountNotFound",
    "AgentAnswerTooLong",
    "AgentBusy",
    "AgentEnded",
    "AgentError",
    "AgentRaised",
    "AgentTimedOut",
    "AgentUnloadable",
    "AllSourcesFailed",
    "AlreadyPromoted",
    "ApplyInProgress",
    "ArchiveTooNew",
    "BodyTooSlow",
    "BudgetSpent",
    "Conflict",
    "DeadlineExceeded",
    "DuplicateMemory",
    "DuplicateName",
    "EmbeddingSpaceChanged",
    "ExecutionCancelled",
    "ExecutionNotFound",
    "Forbidden",
    "IdentityMissing",
    "IdentityRefused",
    "InputTooLong",
    "InvalidAnswer",
    "InvalidArchive",
    "InvalidFilter",
    "InvalidProjectConfig",
    "InvalidRequest",
    "InvalidSecret",
    "JobNotFound",
    "KeyMissing",
    "KeyRejected",
    "LeaseLost",
    "LimitExceeded",
    "ManagedElsewhere",
    "MemberNotFound",
    "MemoryNotFound",
    "MemoryServerError",
    "ModelNotFound",
    "NoBackup",
    "NotAuthenticated",
    "NotFound",
    "NotSuspended",
    "NothingStored",
    "OrganizationNotFound",
    "Overloaded",
    "ProjectInUse",
    "ProjectNotEmpty",
    "ProjectNotFound",
    "ProposalChanged",
    "ProposalDecided",
    "ProposalNotFound",
    "ProviderError",
    "ProviderKeyMissing",
    "ProviderMissing",
    "ProviderRateLimited",
    "ProviderUnavailable",
    "PublishingPath",
    "RateLimited",
    "Refused",
    "RequestRejected",
    "RollFailed",
    "SchemaTooNew",
    "SecretNotFound",
    "SecretNotServed",
    "SnapshotNotFound",
    "SourceNotIndexed",
    "StorageCorrupt",
    "StorageError",
    "StorageFull",
    "StorageLocked",
    "StorageUnavailable",
    "StorageUnusable",
    "TokenExpired",
    "TooLarge",
    "TooManySecrets",
    "UndeclaredPath",
    "UnknownCustomType",
    "VectorsOfAnotherSpace",
    "VersionConflict",
    "WorkerOnly",
    "WrongAgentAnswer",
    "WrongDimension",
]
