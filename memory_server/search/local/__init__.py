"""Words in FTS5, vectors in one contiguous matrix per scope."""
