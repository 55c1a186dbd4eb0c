"""Models: embedding, extraction, answering."""
