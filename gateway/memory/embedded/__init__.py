"""A small memory service that speaks Honcho's v3 API, on the gateway's own database."""
