"""discord.py imports audioop, for voice that nobody uses, and Python warns about it."""

from __future__ import annotations

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    import discord  # noqa: F401  (imported once, before any test module)
