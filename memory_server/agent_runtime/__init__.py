"""What runs inside the process of an agent of the user's own. Standard library only.

The agent may live in a Python environment of its own, without any package of the server's.
"""
