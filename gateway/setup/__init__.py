"""The set-up wizard: what it asks, what follows from the answers, and how that is saved."""
