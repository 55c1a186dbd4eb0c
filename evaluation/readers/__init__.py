"""Answers from what a search brought."""
