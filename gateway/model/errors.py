"""The error tree. Every error says what its catcher should do.

GatewayError
 ├─ ConfigurationError      the operator's files or flags: exit code 2
 ├─ StoreError
 │   ├─ StoreBusyError      somebody holds the database's lock
 │   ├─ StaleLeaseError     another worker took over: drop what you hold
 │   └─ GatewayRunningError the home is in use by another gateway process
 ├─ IllegalTransitionError  a defect of ours
 ├─ PlatformError           a chat platform refused or failed
 │   ├─ RateLimitedError    wait ``retry_after``
 │   ├─ UnreachableError    this person or place cannot be written to
 │   ├─ AmbiguousSendError  it may have arrived
 │   ├─ CredentialsError    the token is wrong or revoked
 │   └─ ConflictError       another program uses the same token
 ├─ MemoryServiceError
 │   ├─ MemoryUnavailableError, MemoryLimitedError   try later
 │   ├─ MemoryAmbiguousError    it may have been stored
 │   ├─ MemoryRejectedError     this content never
 │   ├─ MemoryCredentialsError  pause everything and tell the operator
 │   ├─ MemoryGoneError         open another session
 │   └─ MemoryUnsupportedError  leave that part out
 ├─ ToolError               the model asked for what cannot be: tell the model
 └─ AgentError              the model failed; ``user_text`` names a catalogue text
"""

from __future__ import annotations

from enum import StrEnum


class Disposition(StrEnum):
    """What to do about an error."""

    RETRY = "retry"
    GIVE_UP = "give_up"
    #: it may have happened: look before trying again
    AMBIGUOUS = "ambiguous"


class GatewayError(Exception):
    """Something failed in the gateway."""

    code = "gateway"
    disposition = Disposition.GIVE_UP

    def __init__(
        self,
        detail: str = "",
        *,
        code: str | None = None,
        disposition: Disposition | None = None,
        retry_after: float | None = None,
        user_text: str = "",
    ) -> None:
        """``detail`` is for the operator and holds no message text and no secret.

        ``retry_after`` is in seconds; ``user_text`` is a key of ``gateway.text.catalog`` or "".
        """
        super().__init__(detail or (type(self).__doc__ or "").strip().splitlines()[0])
        if code is not None:
            self.code = code
        if disposition is not None:
            self.disposition = disposition
        self.retry_after = retry_after
        self.user_text = user_text


class ConfigurationError(GatewayError):
    """A setting is wrong; ``problems`` holds one line for each fault."""

    code = "configuration"

    def __init__(self, *problems: str) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class StoreError(GatewayError):
    """The database refused."""

    code = "store"


class StoreBusyError(StoreError):
    """Another program holds the database's write lock."""

    code = "store_busy"
    disposition = Disposition.RETRY


class StaleLeaseError(StoreError):
    """Another worker has taken this item over."""

    code = "stale_lease"


class GatewayRunningError(StoreError):
    """Another gateway process uses this home."""

    code = "gateway_running"


class IllegalTransitionError(GatewayError):
    """A state was to change in a way that is not allowed."""

    code = "illegal_transition"


class PlatformError(GatewayError):
    """A chat platform failed."""

    code = "platform"


class RateLimitedError(PlatformError):
    """The platform asked to wait."""

    code = "rate_limited"
    disposition = Disposition.RETRY

    def __init__(self, detail: str = "", *, retry_after: float, whole_account: bool = False):
        """``whole_account``: every place of this bot must pause, not only the one asked for."""
        super().__init__(detail, retry_after=retry_after)
        self.whole_account = whole_account


class UnreachableError(PlatformError):
    """This place can no longer be written to."""

    code = "unreachable"


class AmbiguousSendError(PlatformError):
    """The connection broke after the message was handed over."""

    code = "ambiguous_send"
    disposition = Disposition.AMBIGUOUS


class CredentialsError(PlatformError):
    """The platform does not accept the token."""

    code = "credentials"


class ConflictError(PlatformError):
    """Another program receives this bot's messages."""

    code = "conflict"
    disposition = Disposition.RETRY


class MemoryServiceError(GatewayError):
    """The memory service failed."""

    code = "memory"


class MemoryUnavailableError(MemoryServiceError):
    """The memory service cannot be reached, or is left alone for a while."""

    code = "memory_unavailable"
    disposition = Disposition.RETRY


class MemoryAmbiguousError(MemoryServiceError):
    """The connection broke after the request was handed over."""

    code = "memory_ambiguous"
    disposition = Disposition.AMBIGUOUS


class MemoryLimitedError(MemoryServiceError):
    """The memory service asked to wait."""

    code = "memory_limited"
    disposition = Disposition.RETRY


class MemoryRejectedError(MemoryServiceError):
    """The memory service does not take this content."""

    code = "memory_rejected"


class MemoryCredentialsError(MemoryServiceError):
    """The memory service does not accept the key."""

    code = "memory_credentials"


class MemoryGoneError(MemoryServiceError):
    """The session was deleted at the memory service."""

    code = "memory_gone"


class MemoryUnsupportedError(MemoryServiceError):
    """This server cannot limit or do what was asked."""

    code = "memory_unsupported"


class ToolError(GatewayError):
    """A tool could not do what the model asked; the text is for the model."""

    code = "tool"


class AgentError(GatewayError):
    """The model could not answer."""

    code = "agent"
