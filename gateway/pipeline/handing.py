"""Files that an answer hands to its person: kept privately and whole before the answer is."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import structlog

from gateway.model.files import MadeFile, SentFile
from gateway.pipeline import cabinet
from gateway.policy.documents import MANY_PARTS, MOST, stored_name
from gateway.text.labels import distinct

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from gateway.model.ids import TurnId

log = structlog.get_logger(__name__)

#: stands before the name of a file that was sent, in the history and in memory
SENT = "📎 "
#: the name of an answer that is sent as a document besides
WHOLE = "answer.md"


def besides(said: str, parts: int) -> tuple[MadeFile, ...]:
    """Return an answer of many messages as one document to keep; () for a short one."""
    if parts <= MANY_PARTS:
        return ()
    return (MadeFile(WHOLE, "text/markdown", said.encode(errors="replace")),)


def named(made: Sequence[MadeFile]) -> tuple[MadeFile, ...]:
    """Return at most ``MOST`` files, no two of the same name."""
    few = made[:MOST]
    labels = distinct(one.label for one in few)
    return tuple(replace(one, label=label) for one, label in zip(few, labels, strict=True))


def mentioned(said: str, made: Sequence[MadeFile]) -> str:
    """Return what history and memory keep of an answer: its words, and which files went along."""
    lines = "\n".join(f"{SENT}{one.label}" for one in made)
    return "\n\n".join(each for each in (said, lines) if each)


async def keep(folder: Path, turn: TurnId, made: Sequence[MadeFile]) -> list[SentFile]:
    """Write the files of a turn; the same again when it is run again. Raises ``OSError``."""
    kept = []
    for ordinal, one in enumerate(made):
        name = stored_name(turn, ordinal, one.label)
        await asyncio.to_thread(cabinet.write, folder / name, one.data)
        kept.append(SentFile(name, one.label, one.mime, len(one.data)))
    if kept:
        log.info("files.kept", action="turn", turn=turn, files=len(kept))
    return kept
