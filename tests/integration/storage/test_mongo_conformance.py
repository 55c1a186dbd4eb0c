"""The MongoDB store keeps every promise of the ports, on a real server."""

from memory_server.storage.mongo import MongoStore
from tests.conformance.accounts import AccountsContract
from tests.conformance.archive import ArchiveContract
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
from tests.integration.storage.mongo_stores import OnMongo


class TestStore(OnMongo, StoreContract, DurableStoreContract):
    async def test_an_empty_database_is_made_ready(self, store: MongoStore) -> None:
        assert (await store.describe())["kind"] == "mongodb"
        await store.ping()


class TestAccounts(OnMongo, AccountsContract):
    pass


class TestMembers(OnMongo, MembersContract):
    pass


class TestProjects(OnMongo, ProjectsContract):
    pass


class TestExecutions(OnMongo, ExecutionsContract):
    pass


class TestAttempts(OnMongo, AttemptsContract):
    pass


class TestServers(OnMongo, ServersContract):
    pass


class TestTurns(OnMongo, TurnsContract):
    pass


class TestJobs(OnMongo, JobsContract):
    pass


class TestJobClaims(OnMongo, JobClaimsContract):
    pass


class TestJobOrder(OnMongo, JobOrderContract):
    pass


class TestSnapshots(OnMongo, SnapshotsContract):
    pass


class TestSharedSessions(OnMongo, SharedSessionsContract):
    pass


class TestArchive(OnMongo, ArchiveContract):
    pass


class TestArchiveStanding(OnMongo, ArchiveStandingContract):
    pass


class TestSpaces(OnMongo, SpacesContract):
    pass


class TestSpaceSwitch(OnMongo, SpaceSwitchContract):
    pass


class TestIsolation(OnMongo, IsolationContract):
    pass


class TestScopes(OnMongo, ScopesContract):
    pass


class TestHostileTexts(OnMongo, HostileTextsContract):
    pass


class TestMemories(OnMongo, MemoriesContract):
    pass


class TestMemoryChanges(OnMongo, MemoryChangesContract):
    pass


class TestMoments(OnMongo, MomentsContract):
    pass


class TestEvidence(OnMongo, EvidenceContract):
    pass


class TestRecords(OnMongo, RecordsContract):
    pass


class TestBlocks(OnMongo, BlocksContract):
    pass


class TestVersions(OnMongo, VersionsContract):
    pass


class TestProposals(OnMongo, ProposalsContract):
    pass


class TestSpending(OnMongo, SpendingContract):
    pass
