"""The operator's page and its JSON API, served by the running gateway."""
