"""``honcho strategy | mode | tokens | enable | disable``: single settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from gateway.cli.common import MISUSED, JsonFlag, fail, friendly, home, loaded, note, show
from gateway.cli.honcho.changes import change, plain, report
from gateway.cli.layout import choices, one_of, pairs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gateway.cli.honcho.changes import Changed
    from gateway.settings.dialects import Value
    from gateway.settings.honcho_schema import HonchoSettings

STRATEGIES = {
    "per-directory": "one session for each folder's name",
    "per-repo": "one for each git repository",
    "per-session": "a new one at every start",
    "global": "one for everything",
}
RECALL = {
    "hybrid": "what is known stands in the prompt, and the model has tools to ask for more",
    "context": "it stands in the prompt, the tools are hidden",
    "tools": "nothing stands in the prompt, the model asks by tools alone",
}
MEMORY = {
    "hybrid": "the service and the files MEMORY.md and USER.md",
    "honcho": "the service alone: the agent writes no files",
    "local": "the files alone: nothing goes to the service",
}


def strategy(
    name: Annotated[str | None, typer.Argument(metavar="NAME", show_default=False)] = None,
    as_json: JsonFlag = False,
) -> None:
    """Show or set how the console's sessions are named (sessionStrategy)."""
    with friendly():
        if name is not None:
            wanted = one_of(name, STRATEGIES, "session strategy")
            report(assign({"sessionStrategy": wanted}), as_json=as_json)
            return
        current = loaded().honcho.session_strategy
        result = {"strategy": current, "valid": list(STRATEGIES)}
        show(result, as_json=as_json, human=lambda: _list(STRATEGIES, current))


def mode(
    name: Annotated[
        str | None,
        typer.Argument(metavar="MODE", show_default=False, help="hybrid, context or tools."),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(metavar="MODE", help="memoryMode of people and agent: " + ", ".join(MEMORY)),
    ] = None,
    user: Annotated[
        str | None, typer.Option(metavar="MODE", help="userMemoryMode, before --memory.")
    ] = None,
    agent: Annotated[
        str | None, typer.Option(metavar="MODE", help="agentMemoryMode, before --memory.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Show or set the recall mode (MODE) and the memory modes (--memory, --user, --agent)."""
    with friendly():
        if name in MEMORY and name not in RECALL:
            fail(
                f"{name} is a memory mode: hermes-gateway honcho mode --memory {name}. "
                f"Recall modes are {', '.join(RECALL)}",
                MISUSED,
            )
        changes: dict[str, Value] = {}
        if name is not None:
            changes["recallMode"] = one_of(name, RECALL, "recall mode")
        asked = (("memoryMode", memory), ("userMemoryMode", user), ("agentMemoryMode", agent))
        for key, value in asked:
            if value is not None:
                changes[key] = one_of(value, MEMORY, "memory mode")
        if changes:
            _change_modes(changes, as_json=as_json)
            return
        result = _modes(loaded().honcho)
        show(result, as_json=as_json, human=lambda: _print_modes(result))


def _change_modes(changes: Mapping[str, Value], *, as_json: bool) -> None:
    done = assign(changes)
    honcho = done.after.honcho
    own = {"userMemoryMode": honcho.user_memory_mode, "agentMemoryMode": honcho.agent_memory_mode}
    for key, value in own.items():
        if (
            "memoryMode" in changes
            and key not in changes
            and value not in (None, honcho.memory_mode)
        ):
            note(f"note: {key} is {value} and goes before memoryMode")
    report(done, as_json=as_json)


def _modes(honcho: HonchoSettings) -> dict[str, Any]:
    return {
        "recall": honcho.recall_mode,
        "memory": honcho.memory_mode,
        "user": honcho.user_mode,
        "agent": honcho.agent_mode,
        "valid": {"recall": list(RECALL), "memory": list(MEMORY)},
    }


def _print_modes(found: dict[str, Any]) -> None:
    typer.echo(f"recall mode: {found['recall']}")
    typer.echo("\n".join(choices(RECALL, found["recall"])))
    typer.echo(f"memory mode: people {found['user']}, agent {found['agent']}")
    both = found["user"] if found["user"] == found["agent"] else ""
    typer.echo("\n".join(choices(MEMORY, both)))


def tokens(
    context: Annotated[
        str | None,
        typer.Option(metavar="N", help="Budget of the recalled block in tokens, or none."),
    ] = None,
    dialectic: Annotated[
        str | None,
        typer.Option(metavar="N", help="Characters of a dialectic answer (dialecticMaxChars)."),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Show or set how much recalled text a prompt may hold."""
    with friendly():
        changes: dict[str, Value] = {}
        if context is not None:
            none = context.strip().lower() in {"none", "null"}
            changes["contextTokens"] = None if none else _count(context, "--context", "2000")
        if dialectic is not None:
            changes["dialecticMaxChars"] = _count(dialectic, "--dialectic", "600")
        if changes:
            report(assign(changes), as_json=as_json)
            return
        honcho = loaded().honcho
        result = {
            "context_tokens": honcho.context_tokens,
            "dialectic_max_chars": honcho.dialectic_max_chars,
        }
        show(result, as_json=as_json, human=lambda: _print_tokens(result))


def _print_tokens(found: dict[str, Any]) -> None:
    budget = found["context_tokens"]
    told = f"{budget} tokens ({budget * 4} characters)" if budget else "no limit"
    rows = [("context", told), ("dialectic", f"{found['dialectic_max_chars']} characters")]
    typer.echo("\n".join(pairs(rows)))


def enable(as_json: JsonFlag = False) -> None:
    """Switch the memory service on."""
    with friendly():
        from gateway.settings.read import needs_service_problem

        done = assign({"enabled": True})
        if problem := needs_service_problem(done.after):
            note(f"note: {problem}")
        report(done, as_json=as_json)


def disable(as_json: JsonFlag = False) -> None:
    """Switch the memory service off: files and search stay, nothing is sent or recalled."""
    with friendly():
        _name_the_provider()
        report(assign({"enabled": False}), as_json=as_json)


def _name_the_provider() -> None:
    """Write down that Honcho is the provider where only its settings say so.

    Switched off, they say so no more: the built-in memory would take its place unasked.
    """
    from gateway import app
    from gateway.settings import files
    from gateway.settings.rewrite import edit

    place, before = home(), loaded()
    after = app.judge_memory(place, before, {("enabled",): False})
    if after.settings.memory.provider != before.settings.memory.provider:
        read = before.digests.get(place.config, files.MISSING)
        edit(place.config, read, {("memory", "provider"): before.settings.memory.provider})
        note(f"note: memory.provider: honcho is written into {place.config}")


def assign(changes: Mapping[str, Value]) -> Changed:
    """Write single keys."""
    return change({(key,): value for key, value in changes.items()})


def _list(valid: Mapping[str, str], current: str) -> None:
    typer.echo("\n".join(choices(valid, current)))


def _count(word: str, option: str, example: str) -> int:
    if not (word.isascii() and word.isdecimal() and 0 < int(word) < 10**9):
        fail(
            f"{option}: {plain(word)} is not a number above 0; write plain digits, "
            f"such as {option} {example}",
            MISUSED,
        )
    return int(word)
