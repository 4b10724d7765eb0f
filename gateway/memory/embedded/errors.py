"""What the service refuses; the answer's ``detail`` holds ids and rules, never what was said."""

from __future__ import annotations


class RefusedError(Exception):
    """A request that cannot be met; ``status`` is the HTTP status of the answer."""

    status = 422


class NotFoundError(RefusedError):
    """What the request names does not exist, or no longer."""

    status = 404


class ConflictError(RefusedError):
    """Something else has to be done first."""

    status = 409


class TooManyObserversError(RefusedError):
    """A session has no room for another observer."""

    status = 400
