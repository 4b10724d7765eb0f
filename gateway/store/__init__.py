"""The SQL side: one schema on SQLite and PostgreSQL, one module for each family of tables."""
