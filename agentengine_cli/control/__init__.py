"""The control plane: stored configuration, secrets, and the server process."""
