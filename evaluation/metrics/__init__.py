"""What is measured, as pure functions over plain values: they know no records and no files."""
