"""Recorded turns, extracted by either adapter, and what is remembered in the end."""
