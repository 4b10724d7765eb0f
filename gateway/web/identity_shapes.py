"""What pages and API show of who is who, and what they take for a change of it."""

from __future__ import annotations

from datetime import datetime  # noqa: TC003  (pydantic reads it at run time)
from typing import Literal

from pydantic import ConfigDict, Field

from gateway.web.shapes import Body, Shape, Typed


class View(Shape):
    """Values taken from those of the service by their names."""

    model_config = ConfigDict(frozen=True, from_attributes=True)


class AccountShape(View):
    """One account that wrote, and whose it is."""

    key: str
    platform: str
    kind: str
    name: str
    language: str
    first_seen: datetime | None
    last_seen: datetime | None
    peer: str
    rung: str
    source: str
    recorded_in: str
    sessions: int
    messages: int


class PersonShape(View):
    """One peer with all accounts that are this person's."""

    peer: str
    accounts: list[AccountShape]
    awaited: list[str]
    owner: bool
    names: list[str]
    last_seen: datetime | None
    language: str
    sessions: int
    messages: int


class AliasShape(View):
    """One entry of the alias map."""

    key: str
    target: str
    recorded_in: str
    accounts: list[str]


class AliasesShape(Shape):
    """The alias map, and the revision that a change of it starts from."""

    revision: str
    entries: list[AliasShape]


class EditShape(View):
    """One key that is another than before."""

    key: str
    before: str | bool | None
    after: str | bool | None


class MoveShape(View):
    """An account that goes from one peer to another."""

    account: str
    name: str
    before: str
    after: str
    rung_before: str
    rung_after: str


class GatheringShape(View):
    """A peer that several become, or that becomes several."""

    peer: str
    others: list[str]


class RemainsShape(View):
    """Something that does not follow by itself."""

    kind: str
    peer: str
    text: str


class EstimateShape(View):
    """What letting memory follow would take."""

    sessions: int
    messages: int
    calls: int
    seconds: float


class PreviewShape(View):
    """What a change would do; nothing has been done."""

    revision: str
    edits: list[EditShape]
    moves: list[MoveShape]
    merges: list[GatheringShape]
    splits: list[GatheringShape]
    awaited: list[str]
    remains: list[RemainsShape]
    rehoming: EstimateShape
    warnings: list[str]
    problems: list[str]


class RecordShape(View):
    """One change of who is who."""

    id: int
    at: datetime
    actor: str
    reason: str
    edits: list[EditShape]
    undoes: int | None
    undone_by: int | None


class AppliedShape(Shape):
    """A change that was made, or why it was not: somebody else was faster."""

    applied: bool
    #: the number of the change in the history; None where nothing was to be changed
    id: int | None
    revision: str
    #: the job by which memory follows
    job: int | None = None
    #: where it was not made: what was changed meanwhile, and which keys of this change
    since: list[RecordShape] = Field(default_factory=list)
    touched: list[EditShape] = Field(default_factory=list)
    preview: PreviewShape


Doing = Literal["alias", "remove", "merge", "split", "undo", "unpin"]


class Wish(Body):
    """A change of who is who, as somebody typed it."""

    #: alias: ``account`` is ``person``; remove: the entry of ``account``; merge: all accounts of
    #: ``person`` become ``into``'s; split: ``account`` becomes a person, named ``person`` where
    #: given; undo: change ``number``; unpin: everybody becomes somebody
    do: Doing
    account: Typed = ""
    person: Typed = ""
    into: Typed = ""
    number: int = Field(default=0, ge=0, lt=2**53)


class Application(Body):
    """A wish that was previewed, and at which revision."""

    wish: Wish
    expected: str = Field(min_length=1, max_length=64)
    reason: Typed = ""
    #: let memory follow at once, where there is any that could
    follow: bool = False


class JobShape(View):
    """Memory that follows identity, and how far it is."""

    id: int
    kind: str
    state: str
    actor: str
    people: list[str] | None
    sessions_total: int
    sessions_done: int
    messages_total: int
    messages_done: int
    error: str
    created_at: datetime
    finished_at: datetime | None


class LinkShape(Shape):
    """Two accounts that their own person joined."""

    account: str
    anchor: str
    since: datetime


class LinkRequestShape(Shape):
    """Two accounts whose person waits for an operator's yes."""

    account: str
    other: str
    expires_at: datetime


class LinksShape(Shape):
    """What people joined themselves, and what waits for a yes."""

    links: list[LinkShape]
    waiting: list[LinkRequestShape]


class LinkDecision(Body):
    """The code of a link that waits, and the answer."""

    code: Typed
    yes: bool


class AuditShape(Shape):
    """One row of the audit; who was erased is a hash."""

    seq: int
    at: datetime
    actor: str
    action: str
    subject: str
    detail: str


class AuditView(Shape):
    """The newest rows, and whether the chain is whole."""

    rows: list[AuditShape]
    count: int
    problem: str
