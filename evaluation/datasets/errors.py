"""What is wrong with a data file, or with what was asked of it."""

from memory_server.errors import InvalidRequest


class InvalidDataset(InvalidRequest):
    """The data cannot be read as what it was said to be: where, what is wrong, and the fix."""

    code = "INVALID_DATASET"


class UnknownChoice(InvalidRequest):
    """What was chosen of the data is not in it, or the data has no such choice."""

    code = "UNKNOWN_CHOICE"
