"""Values and pure functions; nothing here waits for anything."""
