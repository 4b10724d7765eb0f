"""Memory of each person: what is recalled before a turn and captured after it."""
