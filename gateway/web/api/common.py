"""What the routes share: path parameters and the answers of every route."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Query

from gateway.web.shapes import Failure

#: what any route may answer besides
ANSWERS: dict[int | str, dict[str, Any]] = {
    401: {"model": Failure, "description": "Nobody is signed in"},
    403: {"model": Failure, "description": "This needs the operator's role"},
    404: {"model": Failure, "description": "There is no such thing"},
    409: {"model": Failure, "description": "That cannot be done as things stand"},
    422: {"model": Failure, "description": "That is not understood"},
    429: {"model": Failure, "description": "Too many wrong keys or codes"},
    503: {"model": Failure, "description": "Database or memory service cannot answer"},
}

#: SQLite's numbers end at 2**63
PartId = Annotated[int, Path(ge=1, lt=2**53)]
Name = Annotated[str, Path(min_length=1, max_length=600)]
Word = Annotated[str, Query(max_length=200)]
