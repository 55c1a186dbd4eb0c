"""The SQLite store keeps every promise of the ports, in a file and in memory."""

from tests.conformance.accounts import AccountsContract
from tests.conformance.archive import ArchiveContract, MomentOfArchiveContract
from tests.conformance.archive_standing import ArchiveStandingContract
from tests.conformance.attempts import AttemptsContract
from tests.conformance.blocks import BlocksContract
from tests.conformance.evidence import EvidenceContract
from tests.conformance.executions import ExecutionsContract
from tests.conformance.hostile_texts import HostileTextsContract
from tests.conformance.isolation_contract import IsolationContract
from tests.conformance.isolation_scopes import ScopesContract
from tests.conformance.job_claims import JobClaimsContract
from tests.conformance.job_order import JobOrderContract
from tests.conformance.jobs import JobsContract
from tests.conformance.members import MembersContract
from tests.conformance.memories import MemoriesContract
from tests.conformance.memory_changes import MemoryChangesContract
from tests.conformance.moments import MomentsContract
from tests.conformance.projects import ProjectsContract
from tests.conformance.proposals import ProposalsContract
from tests.conformance.records import RecordsContract
from tests.conformance.servers import ServersContract
from tests.conformance.shared_sessions import SharedSessionsContract
from tests.conformance.snapshots import SnapshotsContract
from tests.conformance.space_switch import SpaceSwitchContract
from tests.conformance.spaces import SpacesContract
from tests.conformance.spending import SpendingContract
from tests.conformance.store import DurableStoreContract, StoreContract
from tests.conformance.turns import TurnsContract
from tests.conformance.versions import VersionsContract
from tests.integration.storage.sqlite_stores import InFile, InMemory


class TestTurnsInFile(InFile, TurnsContract):
    pass


class TestTurnsInMemory(InMemory, TurnsContract):
    pass


class TestSnapshotsInFile(InFile, SnapshotsContract):
    pass


class TestSnapshotsInMemory(InMemory, SnapshotsContract):
    pass


class TestSharedSessionsInFile(InFile, SharedSessionsContract):
    pass


class TestSharedSessionsInMemory(InMemory, SharedSessionsContract):
    pass


class TestMemoriesInFile(InFile, MemoriesContract):
    pass


class TestMemoriesInMemory(InMemory, MemoriesContract):
    pass


class TestMemoryChangesInFile(InFile, MemoryChangesContract):
    pass


class TestMemoryChangesInMemory(InMemory, MemoryChangesContract):
    pass


class TestEvidenceInFile(InFile, EvidenceContract):
    pass


class TestEvidenceInMemory(InMemory, EvidenceContract):
    pass


class TestRecordsInFile(InFile, RecordsContract):
    pass


class TestRecordsInMemory(InMemory, RecordsContract):
    pass


class TestBlocksInFile(InFile, BlocksContract):
    pass


class TestBlocksInMemory(InMemory, BlocksContract):
    pass


class TestVersionsInFile(InFile, VersionsContract):
    pass


class TestVersionsInMemory(InMemory, VersionsContract):
    pass


class TestJobsInFile(InFile, JobsContract):
    pass


class TestJobsInMemory(InMemory, JobsContract):
    pass


class TestJobClaimsInFile(InFile, JobClaimsContract):
    pass


class TestJobClaimsInMemory(InMemory, JobClaimsContract):
    pass


class TestJobOrderInFile(InFile, JobOrderContract):
    pass


class TestJobOrderInMemory(InMemory, JobOrderContract):
    pass


class TestAccountsInFile(InFile, AccountsContract):
    pass


class TestAccountsInMemory(InMemory, AccountsContract):
    pass


class TestProjectsInFile(InFile, ProjectsContract):
    pass


class TestProjectsInMemory(InMemory, ProjectsContract):
    pass


class TestMembersInFile(InFile, MembersContract):
    pass


class TestMembersInMemory(InMemory, MembersContract):
    pass


class TestMomentsInFile(InFile, MomentsContract):
    pass


class TestMomentsInMemory(InMemory, MomentsContract):
    pass


class TestStoreInFile(InFile, StoreContract, DurableStoreContract):
    pass


class TestStoreInMemory(InMemory, StoreContract):
    pass


class TestIsolationInFile(InFile, IsolationContract):
    pass


class TestIsolationInMemory(InMemory, IsolationContract):
    pass


class TestScopesInFile(InFile, ScopesContract):
    pass


class TestHostileTextsInFile(InFile, HostileTextsContract):
    pass


class TestHostileTextsInMemory(InMemory, HostileTextsContract):
    pass


class TestScopesInMemory(InMemory, ScopesContract):
    pass


class TestExecutionsInFile(InFile, ExecutionsContract):
    pass


class TestExecutionsInMemory(InMemory, ExecutionsContract):
    pass


class TestAttemptsInFile(InFile, AttemptsContract):
    pass


class TestAttemptsInMemory(InMemory, AttemptsContract):
    pass


class TestServersInFile(InFile, ServersContract):
    pass


class TestServersInMemory(InMemory, ServersContract):
    pass


class TestArchiveInFile(InFile, ArchiveContract, MomentOfArchiveContract):
    pass


class TestArchiveInMemory(InMemory, ArchiveContract, MomentOfArchiveContract):
    pass


class TestSpacesInFile(InFile, SpacesContract):
    pass


class TestSpacesInMemory(InMemory, SpacesContract):
    pass


class TestSpaceSwitchInFile(InFile, SpaceSwitchContract):
    pass


class TestSpaceSwitchInMemory(InMemory, SpaceSwitchContract):
    pass


class TestArchiveStandingInFile(InFile, ArchiveStandingContract):
    pass


class TestArchiveStandingInMemory(InMemory, ArchiveStandingContract):
    pass


class TestProposalsInFile(InFile, ProposalsContract):
    pass


class TestProposalsInMemory(InMemory, ProposalsContract):
    pass


class TestSpendingInFile(InFile, SpendingContract):
    pass


class TestSpendingInMemory(InMemory, SpendingContract):
    pass
