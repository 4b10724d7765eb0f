"""Logs: events on standard error, as text on a terminal and as JSON elsewhere, redacted.

Every record passes ``redact`` last, whatever library wrote it, so that no token and no key of
this process can reach a log. Libraries that log request addresses speak from WARNING up only.
"""

from __future__ import annotations

import contextlib
import logging
import sys
from typing import TYPE_CHECKING, Any

import structlog

from gateway.policy.redact import redact

if TYPE_CHECKING:
    from collections.abc import Collection, MutableMapping

    from structlog.types import Processor

    from gateway.settings.read import Loaded
    from gateway.settings.schema import LogSettings

#: loggers whose INFO or DEBUG records hold addresses, headers, bodies or statement parameters
TALKATIVE = (
    "alembic",
    "asyncio",
    "httpcore",
    "httpx",
    "uvicorn",
    "httpx2",
    "markdown_it",
    "openai",
    "pydantic_ai",
    "sqlalchemy",
    "telegram",
    "watchfiles",
)


class Redactor:
    """Masks secrets in the finished line."""

    def __init__(self, secrets: Collection[str]) -> None:
        self._secrets = set(secrets)

    def learn(self, secrets: Collection[str]) -> None:
        """Mask these too from now on; those of before may still be in use."""
        self._secrets.update(secrets)

    def __call__(self, _logger: object, _name: str, line: Any) -> Any:
        """A structlog processor behind the renderer."""
        return redact(str(line), self._secrets)


def secrets_of(loaded: Loaded) -> set[str]:
    """Return every secret of a configuration, each token apart, for the logs to mask."""
    secrets = loaded.secrets
    values = {piece for name in secrets for piece in (secrets[name], *secrets.tokens(name))}
    if loaded.honcho.api_key is not None:
        values.add(loaded.honcho.api_key.get_secret_value())
    return values


def configure(settings: LogSettings, secrets: Collection[str], *, quiet: bool = False) -> Redactor:
    """Set logging up for the whole process and return the redactor in force.

    ``quiet``: somebody converses on this terminal, so that only warnings are shown unless
    ``log.level`` was set.
    """
    level = settings.level
    if quiet and "level" not in settings.model_fields_set:
        level = "warning"
    text = settings.format == "console" or (
        settings.format == "auto" and sys.stderr is not None and sys.stderr.isatty()
    )
    redactor = Redactor(secrets)
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    renderer: Processor = (
        structlog.dev.ConsoleRenderer(colors=False, pad_event_to=0)
        if text
        else structlog.processors.JSONRenderer(ensure_ascii=False)
    )
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
    handler = _StandardError()
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*shared, _without_traceback_values],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                renderer,
                redactor,
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    for name in TALKATIVE:
        logging.getLogger(name).setLevel(logging.WARNING)
    return redactor


class _StandardError(logging.Handler):
    """Writes to what ``sys.stderr`` is at that moment: a prompt keeps its line below the logs."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line; a standard error that is closed or gone loses it."""
        if sys.stderr is None:
            return
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(f"{self.format(record)}\n")
            sys.stderr.flush()


def _without_traceback_values(
    _logger: object, _name: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """Keep a foreign record's message and level; its extra fields may hold anything."""
    kept = ("event", "level", "timestamp", "exception", "_record", "_from_structlog")
    return {key: value for key, value in event.items() if key in kept}
