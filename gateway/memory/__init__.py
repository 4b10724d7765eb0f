"""Memory: what is written to the memory service, and what is recalled from it."""
