"""How well an extractor remembers labelled conversations: what is found, missed and made up."""
