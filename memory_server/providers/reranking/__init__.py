"""Models that put finds into a better order, one file per provider."""
