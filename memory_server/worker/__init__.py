"""The background half: claim, run, settle."""
