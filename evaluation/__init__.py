"""How good a memory is: conversations in, questions asked, answers and evidence measured.

Reaches the memory server over HTTP alone, as an agent would.
"""
