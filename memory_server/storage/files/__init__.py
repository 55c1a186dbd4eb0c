"""The deployment's configuration and secrets in files beside the database."""

from memory_server.storage.files.deployment import DeploymentDirectory

__all__ = ["DeploymentDirectory"]
