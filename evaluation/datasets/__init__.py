"""Data to measure a memory on: benchmarks, one's own conversations, and generated ones."""
