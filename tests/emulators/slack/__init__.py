"""Slack's Web API, Socket Mode and HTTP events as a real server on 127.0.0.1, all in memory."""

from __future__ import annotations

from tests.emulators.slack.emulator import SlackEmulator
from tests.emulators.slack.world import APP_TOKEN, CHANNEL, SIGNING_SECRET, TEAM, TOKEN, USER

__all__ = ["APP_TOKEN", "CHANNEL", "SIGNING_SECRET", "TEAM", "TOKEN", "USER", "SlackEmulator"]
