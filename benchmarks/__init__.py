"""Speed and size, each figure beside its peer and its limit in the same run."""
