"""Each step of a search for what was said, taken away or added."""
