"""What the service says: frozen values that the command line and the page both render."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from gateway.text.counted import counted

if TYPE_CHECKING:
    from datetime import datetime

    from gateway.model.ids import PeerId
    from gateway.policy.identity import Rung
    from gateway.policy.identity_change import Change, Edit
    from gateway.store.identity_changes import Record


@dataclass(frozen=True, slots=True)
class AccountView:
    """One account that wrote, and whose it is at the moment."""

    #: as operators write it: ``telegram:7654321``, ``slack:T0…:U0…``, ``console``
    key: str
    platform: str
    #: the Slack team, else ""
    scope: str
    user_id: str
    #: ``person`` or ``bot``; ``operator`` for the console
    kind: str
    name: str
    language: str
    first_seen: datetime | None
    last_seen: datetime | None
    peer: PeerId
    rung: Rung
    #: the record that names the peer: ``userPeerAliases["telegram:7654321"]``
    source: str
    #: ``FILE:LINE`` of that record, "" where it stands in no file
    recorded_in: str
    #: memory sessions and messages of theirs, answers included
    sessions: int
    messages: int


@dataclass(frozen=True, slots=True)
class PersonView:
    """One peer with all accounts that are this person's."""

    peer: PeerId
    accounts: tuple[AccountView, ...]
    #: aliases of accounts that have not written yet
    awaited: tuple[str, ...]
    #: the person of ``peerName``, whose files are the home's own
    owner: bool

    @property
    def names(self) -> tuple[str, ...]:
        """The display names of the accounts, each once."""
        return tuple(dict.fromkeys(one.name for one in self.accounts if one.name))

    @property
    def last_seen(self) -> datetime | None:
        """When any of the accounts wrote last."""
        times = [one.last_seen for one in self.accounts if one.last_seen is not None]
        return max(times, default=None)

    @property
    def language(self) -> str:
        """The language of the account that wrote last."""
        latest = sorted(
            (one for one in self.accounts if one.last_seen and one.language),
            key=lambda one: str(one.last_seen),
        )
        return latest[-1].language if latest else ""

    @property
    def sessions(self) -> int:
        return sum(one.sessions for one in self.accounts)

    @property
    def messages(self) -> int:
        return sum(one.messages for one in self.accounts)


@dataclass(frozen=True, slots=True)
class AliasView:
    """One entry of the alias map."""

    key: str
    target: str
    #: ``FILE:LINE``
    recorded_in: str
    #: the accounts that wrote and that it names; () while nobody did
    accounts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Move:
    """An account that goes from one peer to another."""

    account: str
    name: str
    before: PeerId
    after: PeerId
    rung_before: Rung
    rung_after: Rung


@dataclass(frozen=True, slots=True)
class Gathering:
    """A peer that several become (merge), or that becomes several (split)."""

    peer: PeerId
    others: tuple[PeerId, ...]


@dataclass(frozen=True, slots=True)
class Remains:
    """Something that does not follow by itself."""

    kind: Literal["groups", "conclusions", "card", "files"]
    peer: PeerId
    sessions: int = 0
    messages: int = 0

    @property
    def text(self) -> str:
        """Say it to an operator."""
        match self.kind:
            case "groups":
                return (
                    f"{counted(self.messages, 'message')} in "
                    f"{counted(self.sessions, 'shared session')}, of {self.peer}, unless "
                    f"these are rebuilt (--rebuild-groups)"
                )
            case "conclusions":
                return f"what others concluded about {self.peer} from shared sessions stays"
            case "card":
                return (
                    f"the card of {self.peer} stays whole with {self.peer}: nobody can tell "
                    "whose each line is"
                )
        return f"MEMORY.md and USER.md of {self.peer} stay with {self.peer}"


@dataclass(frozen=True, slots=True)
class Estimate:
    """What letting memory follow would take. ``calls``: requests to the memory service."""

    sessions: int = 0
    messages: int = 0
    calls: int = 0

    @property
    def seconds(self) -> float:
        """The shortest time it can take, at four requests a second."""
        return self.calls / 4


@dataclass(frozen=True, slots=True)
class Following:
    """What letting memory follow would do at this moment."""

    estimate: Estimate
    #: (from, to) of the sessions that would stand elsewhere
    moves: tuple[tuple[str, str], ...]
    #: shared sessions in which somebody is another peer now; rebuilt only on request
    groups: int
    #: whose conclusions a rebuilding of shared sessions derives anew
    derived_anew: tuple[str, ...]
    #: sessions that memory has followed from and that stay until they are purged
    kept: int


@dataclass(frozen=True, slots=True)
class Preview:
    """What a change would do; nothing has been done."""

    change: Change
    #: of the keys that it was made from: ``apply`` wants it, to notice others' changes
    revision: str
    edits: tuple[Edit, ...]
    moves: tuple[Move, ...]
    merges: tuple[Gathering, ...]
    splits: tuple[Gathering, ...]
    #: entries for accounts that have not written yet
    awaited: tuple[str, ...]
    remains: tuple[Remains, ...]
    rehoming: Estimate
    warnings: tuple[str, ...]
    #: why it cannot be applied; () where it can
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Applied:
    """A change that stands in the file; the running gateway follows within two seconds."""

    #: the number of its history row, None where nothing was to be changed
    id: int | None
    revision: str
    preview: Preview


@dataclass(frozen=True, slots=True)
class Conflict:
    """A change that was not made because the keys are others than its author saw."""

    #: what was changed meanwhile, as far as the history knows who did it
    since: tuple[Record, ...]
    #: keys of the change that somebody else changed, with their present value
    touched: tuple[Edit, ...]
    #: what the same change would do now: apply it with this one's revision
    preview: Preview
