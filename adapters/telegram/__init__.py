"""Telegram, by python-telegram-bot as the client and a durable receive loop of our own."""
