"""The mailbox: durable work in lanes, one strict order for each (lane, key)."""
