"""Who is who: people, aliases, and changes with a preview, a history and a way back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.model.errors import GatewayError
from gateway.people import Applied, Author
from gateway.web.identity_shapes import (
    AliasesShape,
    AliasShape,
    AppliedShape,
    EditShape,
    JobShape,
    PersonShape,
    PreviewShape,
    RecordShape,
)

if TYPE_CHECKING:
    from gateway.people import Change, Conflict, Record
    from gateway.web.doors import Visitor
    from gateway.web.identity_shapes import Application, Wish
    from gateway.web.parts import Parts


class UnknownPersonError(GatewayError):
    """Nobody is called that."""

    code = "unknown_person"


async def people(parts: Parts, search: str = "") -> list[PersonShape]:
    """Return everybody, whoever wrote last first."""
    return [PersonShape.model_validate(one) for one in await parts.people.people(search)]


async def person(parts: Parts, peer: str) -> PersonShape:
    """Return one person. Raises ``UnknownPersonError``."""
    found = next((one for one in await people(parts) if one.peer == peer), None)
    if found is None:
        raise UnknownPersonError
    return found


async def aliases(parts: Parts) -> AliasesShape:
    """Return the alias map."""
    entries = [AliasShape.model_validate(one) for one in await parts.people.aliases()]
    return AliasesShape(revision=await parts.people.revision(), entries=entries)


async def history(parts: Parts) -> list[RecordShape]:
    """Return the changes, the newest first."""
    return [_record(one) for one in await parts.people.history()]


def _record(record: Record) -> RecordShape:
    return RecordShape.model_validate(record)


async def change_of(parts: Parts, wish: Wish) -> Change:
    """Return what a wish means. Raises ``ConfigurationError`` with what is wrong with it."""
    service = parts.people
    match wish.do:
        case "alias":
            return service.aliased({wish.account: wish.person})
        case "remove":
            return service.aliased({wish.account: None})
        case "merge":
            return await service.merging(wish.person, wish.into)
        case "split":
            return await service.splitting(wish.account, wish.person or None)
        case "undo":
            return await service.undoing(wish.number)
        case "unpin":
            return await service.unpinning()


async def preview(parts: Parts, wish: Wish) -> PreviewShape:
    """Return what a wish would do. Raises ``ConfigurationError``."""
    seen = await parts.people.preview(await change_of(parts, wish))
    return PreviewShape.model_validate(seen)


async def apply(parts: Parts, visitor: Visitor, wanted: Application) -> AppliedShape:
    """Make a change that was previewed, unless somebody else was faster.

    Raises ``ConfigurationError``.
    """
    wish, author = wanted.wish, Author(visitor.name, wanted.reason)
    if wish.do == "undo":
        done = await parts.people.undo(wish.number, author=author, expected=wanted.expected)
    else:
        change = await change_of(parts, wish)
        done = await parts.people.apply(change, expected=wanted.expected, author=author)
    job = await _follow(parts, done, author) if wanted.follow else None
    return _told(done).model_copy(update={"job": job})


async def _follow(parts: Parts, done: Applied | Conflict, author: Author) -> int | None:
    """Let memory follow a change that was made; None where there is nothing to follow."""
    seen = done.preview
    if not isinstance(done, Applied) or not seen.rehoming.sessions:
        return None
    concerned = {str(peer) for move in seen.moves for peer in (move.before, move.after)}
    return (await parts.rehoming.start(author, sorted(concerned))).id


async def jobs(parts: Parts) -> list[JobShape]:
    """Return how far memory has followed, the newest job first."""
    return [JobShape.model_validate(one) for one in await parts.rehoming.jobs(limit=10)]


def _told(done: Applied | Conflict) -> AppliedShape:
    seen = PreviewShape.model_validate(done.preview)
    if isinstance(done, Applied):
        return AppliedShape(applied=True, id=done.id, revision=done.revision, preview=seen)
    return AppliedShape(
        applied=False,
        id=None,
        revision=seen.revision,
        since=[_record(one) for one in done.since],
        touched=[EditShape.model_validate(one) for one in done.touched],
        preview=seen,
    )
