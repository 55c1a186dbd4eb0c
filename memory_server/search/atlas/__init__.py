"""Searching by Atlas Search, where the deployment has it."""
