"""``honcho peer``: who the owner and the agent are at the service, and how hard it thinks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gateway.cli.changing import ReasonOption, YesFlag, made, told
from gateway.cli.common import MISUSED, JsonFlag, fail, friendly, home, loaded, show
from gateway.cli.honcho.changes import compare, print_changed, report
from gateway.cli.honcho.keys import assign
from gateway.cli.layout import one_of, pairs

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from gateway.people import Change, People
    from gateway.settings.dialects import Value
    from gateway.settings.honcho_schema import HonchoSettings
    from gateway.settings.splice import Remove

LEVELS = {
    "minimal": "quickest and cheapest",
    "low": "the default",
    "medium": "looks further",
    "high": "the most that a long message comes to by itself",
    "max": "only where you ask for it",
}


def peer(
    user: Annotated[
        str | None, typer.Option("--user", metavar="NAME", help="The owner's peer (peerName).")
    ] = None,
    ai: Annotated[
        str | None, typer.Option("--ai", metavar="NAME", help="The agent's peer (aiPeer).")
    ] = None,
    reasoning: Annotated[
        str | None,
        typer.Option(metavar="LEVEL", help=f"dialecticReasoningLevel: {', '.join(LEVELS)}."),
    ] = None,
    *,
    reason: ReasonOption = "",
    yes: YesFlag = False,
    as_json: JsonFlag = False,
) -> None:
    """Show or set who is who at the service, and how hard it thinks about a question.

    --user changes who is who: it is shown first who moves, and aliases undo takes it back.
    """
    with friendly():
        changes: dict[str, Value] = {}
        if ai is not None:
            changes["aiPeer"] = _name(ai, "aiPeer")
        if reasoning is not None:
            changes["dialecticReasoningLevel"] = one_of(reasoning, LEVELS, "reasoning level")
        if user is not None:
            owner = _name(user, "peerName")
            _change_owner(owner, changes, Asking(reason, yes=yes, as_json=as_json))
            return
        if changes:
            report(assign(changes), as_json=as_json)
            return
        honcho = loaded().honcho
        result = _peers(honcho)
        show(result, as_json=as_json, human=lambda: _print_peers(result))


@dataclass(frozen=True, slots=True)
class Asking:
    """How a change of who is who is asked for."""

    reason: str
    yes: bool
    as_json: bool


def _change_owner(owner: str, others: Mapping[str, Value], asking: Asking) -> None:
    """Change peerName as people do, with preview and history, and other keys beside it."""
    from gateway import app
    from gateway.people import Conflict

    before = loaded()
    changes: dict[tuple[str, ...], Value | Remove] = {("peerName",): owner}
    changes |= {(key,): value for key, value in others.items()}
    after = app.judge_memory(home(), before, changes)
    freed = before.honcho.ai_peer == owner
    if freed and others:
        assign(others)
    result = made(_owned(owner), reason=asking.reason, yes=asking.yes, as_json=asking.as_json)
    if isinstance(result, Conflict) or not asking.as_json:
        told(result, as_json=asking.as_json)
    if others and not freed:
        assign(others)
    done = compare(before, after, changes)
    found = {**done.told(), "change": getattr(result, "id", None)}
    show(found, as_json=asking.as_json, human=lambda: print_changed(done))


def _owned(owner: str) -> Callable[[People], Awaitable[Change]]:
    async def make(_service: People) -> Change:
        from gateway.people import Change

        return Change({("peerName",): owner})

    return make


def _peers(honcho: HonchoSettings) -> dict[str, Any]:
    return {
        "user": honcho.peer_name,
        "ai": honcho.ai_peer,
        "reasoning": honcho.dialectic_reasoning_level,
        "reasoning_cap": honcho.reasoning_level_cap,
        "pinned": honcho.pin_user_peer,
        "aliases": dict(honcho.user_peer_aliases),
    }


def _print_peers(found: dict[str, Any]) -> None:
    who = "everybody is this peer (pinUserPeer)" if found["pinned"] else ""
    user = found["user"] or "none: the console's person goes by the system user's name"
    joined = [f"{account} → {name}" for account, name in found["aliases"].items()]
    rows = [
        ("user", f"{user}\n{who}".strip()),
        ("ai", found["ai"]),
        ("reasoning", f"{found['reasoning']}, up to {found['reasoning_cap']} for long messages"),
        ("aliases", "\n".join(joined)),
    ]
    typer.echo("\n".join(pairs(rows)))


def _name(word: str, key: str) -> str:
    from gateway.text.clean import check_name, nfc

    name = nfc(word.strip())
    if not name or (flaw := check_name(name)):
        fail(f"{key}: {flaw if name else 'a name has at least one letter'}", MISUSED)
    return name
