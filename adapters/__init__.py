"""The platforms, one package each; they know nothing of one another."""
