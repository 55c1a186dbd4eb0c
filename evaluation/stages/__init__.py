"""One stage after the other, each reading what the one before it wrote."""
