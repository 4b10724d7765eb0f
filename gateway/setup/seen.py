"""People whom the gateway has met, to be offered instead of typing their ids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway.model.errors import StoreError
from gateway.model.ids import PlatformName, ScopeId, UserId
from gateway.policy.runtime_id import RuntimeId
from gateway.setup.asking import Option
from gateway.store import migrate, readonly
from gateway.text.clean import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

#: more than these are not offered; any id can be typed
_MOST = 30
_LONGEST_NAME = 40


@dataclass(frozen=True, slots=True)
class Person:
    """One account that wrote, or asked to be let in."""

    account: RuntimeId
    name: str = ""
    admin: bool = False

    @property
    def written(self) -> str:
        """The id as it is written under its platform: ``id`` or ``team:id``."""
        return self.account.qualified.partition(":")[2]


def people(database: Path) -> tuple[Person, ...]:
    """Return the accounts a home's database knows, the latest first; none without a database."""
    if not database.exists():
        return ()
    try:
        with readonly.look(database) as conn:
            if readonly.revision(conn) != migrate.HEAD:
                return ()
            rows = readonly.met(conn)
    except StoreError:
        return ()
    return tuple(
        Person(
            RuntimeId(PlatformName(row.platform), UserId(row.user_id), ScopeId(row.scope) or None),
            one_line(row.name, _LONGEST_NAME),
            row.admin,
        )
        for row in rows
    )


def offered(
    found: Iterable[Person], platform: str, listed: Iterable[str] = ()
) -> tuple[Option, ...]:
    """Return the people of a platform as options; keys are ids. ``listed``: ids let in already."""
    own = [one for one in found if one.account.platform == platform][:_MOST]
    seen = {one.written: _label(one) for one in own}
    return tuple(Option(one, seen.get(one, one)) for one in dict.fromkeys((*seen, *listed)))


def _label(person: Person) -> str:
    told = f"{person.written} ({person.name})" if person.name else person.written
    return f"{told}, admin" if person.admin else told
