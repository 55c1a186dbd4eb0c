"""From the stages' records to figures, tables and one page."""
