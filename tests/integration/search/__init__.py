"""The search indexes over real databases."""
