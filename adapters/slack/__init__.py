"""Slack, by slack-bolt and slack-sdk, with connections that acknowledge only what is stored."""
