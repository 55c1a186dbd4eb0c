"""Faults of servers, database, disk and clocks under load, and what is lost by them."""
