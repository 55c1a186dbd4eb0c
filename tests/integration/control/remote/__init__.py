"""The commands against a server that runs elsewhere."""
