"""What is kept in memory, where one process has the store to itself."""
