"""What the services ask of the outside world."""
