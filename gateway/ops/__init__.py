"""Operating the gateway: time, logs, health, doctor."""
