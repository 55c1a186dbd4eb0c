"""What the product does, one verb-noun purpose per module."""
