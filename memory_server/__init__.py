"""The memory server."""
