"""The routes of the API: what comes over the wire, and the answer to it."""
