"""``honcho``: the memory settings of a profile, and what the service knows of its agent."""
