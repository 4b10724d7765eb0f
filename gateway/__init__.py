"""Hermes Gateway: one agent on many chat platforms, knowing each person."""

__version__ = "0.1.0"
