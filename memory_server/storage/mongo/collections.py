"""The collections of the database, by the names that other programs know them by."""

from memory_server.domain.memory import MemoryType

TURNS = "memory_turns"
SESSIONS = "session_counters"
SNAPSHOTS = "memory_snapshots"
JOBS = "memory_jobs"
JOB_OWNERS = "memory_job_owners"
PROPOSALS = "memory_proposals"
PROJECTS = "projects"
GATES = "project_gates"
ACCOUNTS = "service_accounts"
MEMBERS = "members"
LOGINS = "logins"
SCHEMA = "schema"
HEARTBEAT = "heartbeat"
ERASED = "erasures"
"""Who was erased and when, by a hash that names nobody."""
EXECUTIONS = "executions"
ATTEMPTS = "attempts"
SERVERS = "servers"
SPACES = "embedding_spaces"
SPENDING = "model_spending"
"""Calls and tokens of models by project and hour."""
DEPLOYMENT = "deployment"

MEMORIES: dict[MemoryType, str] = {
    MemoryType.SEMANTIC: "memory_semantic",
    MemoryType.EPISODIC: "memory_episodic",
    MemoryType.TAXONOMIC: "memory_taxonomic",
    MemoryType.PROCEDURAL: "memory_procedural",
    MemoryType.CUSTOM: "memory_custom",
    MemoryType.BLOCK: "memory_blocks",
}
