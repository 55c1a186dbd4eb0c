"""Bodies and answers, tolerant in, exact out."""
