"""Alembic migrations, one environment for SQLite and PostgreSQL."""
