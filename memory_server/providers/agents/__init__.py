"""The agents that an invocation can reach."""
