"""`python -m agentengine_cli` is the command `agentengine`."""

from agentengine_cli.main import entry

if __name__ == "__main__":
    entry()
