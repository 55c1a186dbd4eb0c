"""Whether an answer is right, as a language model sees it."""
