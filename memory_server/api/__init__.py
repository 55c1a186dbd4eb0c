"""HTTP: what travels over the wire."""
