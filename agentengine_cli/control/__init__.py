"""Keeps one memory server running beside a project."""
