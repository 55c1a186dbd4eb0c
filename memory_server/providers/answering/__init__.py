"""The voice of the built-in agent."""
