"""Errors of archives: what was exported, imported or copied."""

from memory_server.errors.root import Conflict, InvalidRequest


class InvalidArchive(InvalidRequest):
    """The archive cannot be understood."""

    code = "INVALID_ARCHIVE"


class ArchiveTooNew(InvalidArchive):
    """The archive was written by a newer version of this program."""

    code = "ARCHIVE_TOO_NEW"


class VectorsOfAnotherSpace(Conflict):
    """The archive's vectors are of another embedding space than this server's."""

    code = "VECTORS_OF_ANOTHER_SPACE"


class NoBackup(Conflict):
    """The store is not one file that could be copied."""

    code = "NO_BACKUP"
