"""The way of a message: intake, turn, delivery; commands and pairing beside it."""
