"""A short conversation over several sessions, and what becomes of it."""
