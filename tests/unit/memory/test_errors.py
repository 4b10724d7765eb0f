"""One error for everything that can go wrong on the way to the memory service."""

from __future__ import annotations

import inspect
import json

import honcho.http.exceptions as foreign
import httpx
import pydantic
import pytest

from gateway.memory import errors
from gateway.memory.honcho import translate
from gateway.model.errors import (
    MemoryAmbiguousError,
    MemoryCredentialsError,
    MemoryGoneError,
    MemoryLimitedError,
    MemoryRejectedError,
    MemoryServiceError,
    MemoryUnavailableError,
    MemoryUnsupportedError,
)

SECRET = "what Mira said"

STATUSES = [
    (302, MemoryUnavailableError),
    (400, MemoryRejectedError),
    (401, MemoryCredentialsError),
    (402, MemoryUnavailableError),
    (403, MemoryCredentialsError),
    (404, MemoryGoneError),
    (405, MemoryUnsupportedError),
    (408, MemoryAmbiguousError),
    (409, MemoryUnavailableError),
    (413, MemoryRejectedError),
    (422, MemoryRejectedError),
    (429, MemoryLimitedError),
    (500, MemoryAmbiguousError),
    (501, MemoryUnsupportedError),
    (502, MemoryAmbiguousError),
    (503, MemoryAmbiguousError),
    (504, MemoryAmbiguousError),
    (520, MemoryAmbiguousError),
]


@pytest.mark.parametrize(("status", "expected"), STATUSES)
def test_statuses(status: int, expected: type[MemoryServiceError]) -> None:
    error = translate(foreign.create_error_from_response(status, SECRET, {"detail": SECRET}))
    assert type(error) is expected
    assert SECRET not in str(error)


@pytest.mark.parametrize(
    ("asked", "waits"), [(None, 2.0), (0.0, 0.0), (7.5, 7.5), (60.0, 60.0), (3600.0, 60.0)]
)
def test_a_limit_says_how_long_and_never_for_ever(asked: float | None, waits: float) -> None:
    assert translate(foreign.RateLimitError("slow", asked)).retry_after == waits


#: whether the request may have been done; the others were never handed over
HANDED_OVER = {
    httpx.ReadTimeout: True,
    httpx.WriteTimeout: True,
    httpx.ConnectTimeout: False,
    httpx.PoolTimeout: False,
    httpx.ReadError: True,
    httpx.WriteError: True,
    httpx.CloseError: True,
    httpx.ConnectError: False,
    httpx.ProxyError: False,
    httpx.UnsupportedProtocol: False,
    httpx.LocalProtocolError: False,
    httpx.RemoteProtocolError: True,
    httpx.DecodingError: True,
    httpx.TooManyRedirects: True,
}


@pytest.mark.parametrize("kind", HANDED_OVER)
@pytest.mark.parametrize("wrapped", [True, False])
def test_transport(kind: type[httpx.RequestError], wrapped: bool) -> None:
    cause = kind(SECRET)
    error: Exception = cause
    if wrapped:
        error = foreign.ConnectionError(SECRET)
        error.__cause__ = cause
    translated = translate(error)
    expected = MemoryAmbiguousError if HANDED_OVER[kind] else MemoryUnavailableError
    assert type(translated) is expected
    assert SECRET not in str(translated)


def test_a_timeout_can_be_told_from_a_broken_connection() -> None:
    error = foreign.TimeoutError(SECRET)
    error.__cause__ = httpx.ReadTimeout("")
    assert translate(error).code == errors.TIMEOUT


def _leaves(base: type[Exception], module: object) -> list[type[Exception]]:
    return [
        each
        for _, each in inspect.getmembers(module, inspect.isclass)
        if issubclass(each, base) and not each.__subclasses__()
    ]


def test_no_error_of_the_libraries_is_unknown() -> None:
    """A new one in either library fails here instead of in the night."""
    assert set(_leaves(httpx.RequestError, httpx)) == set(HANDED_OVER)
    known = {type(foreign.create_error_from_response(each, "")) for each, _ in STATUSES}
    transport = {foreign.TimeoutError, foreign.ConnectionError}
    assert set(_leaves(foreign.HonchoError, foreign)) == (known | transport) - {foreign.APIError}


STRANGE = {
    "a page instead of JSON": json.JSONDecodeError("Expecting value", SECRET, 0),
    "no list": TypeError(SECRET),
    "no such key": KeyError(SECRET),
    "no mapping": AttributeError(SECRET),
}


@pytest.mark.parametrize("name", STRANGE)
def test_an_answer_that_is_not_honchos_may_stand_for_a_done_request(name: str) -> None:
    wrapped = foreign.ConnectionError(SECRET)
    wrapped.__cause__ = STRANGE[name]
    for error in (STRANGE[name], wrapped):
        translated = translate(error)
        assert (type(translated), translated.code) == (MemoryAmbiguousError, "memory_answer")
        assert SECRET not in str(translated)


def test_so_may_an_answer_of_another_shape() -> None:
    class Model(pydantic.BaseModel):
        number: int

    with pytest.raises(pydantic.ValidationError) as caught:
        Model.model_validate({"number": SECRET})
    translated = translate(caught.value)
    assert type(translated) is MemoryAmbiguousError
    assert SECRET not in str(translated)
