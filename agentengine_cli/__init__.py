"""The agentengine command line."""
