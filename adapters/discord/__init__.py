"""Discord, by discord.py as the client and a durable event loop of our own."""
