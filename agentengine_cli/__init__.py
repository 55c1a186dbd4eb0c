"""The command line of agentengine."""
