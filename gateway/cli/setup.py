"""``setup`` and ``memory setup``: questions that end in a gateway that works."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gateway.cli.changing import author, let_follow
from gateway.cli.common import (
    FAILED,
    MISUSED,
    JsonFlag,
    chosen_profile,
    fail,
    friendly,
    home,
    note,
    show,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from gateway.setup.asking import Asker
    from gateway.setup.flow import Outcome
    from gateway.setup.session import Bench, Session

AnswersOption = Annotated[
    Path | None,
    typer.Option(
        "--answers", metavar="FILE", help="Take the answers from a YAML or JSON file; ask nothing."
    ),
]
PlainFlag = Annotated[
    bool, typer.Option("--plain", help="Ask in plain lines: for screen readers and old terminals.")
]


def setup(
    answers: AnswersOption = None, plain: PlainFlag = False, as_json: JsonFlag = False
) -> None:
    """Set up name, model, platforms, memory, and who is who. Shows everything before saving."""
    from gateway.setup.flow import ask_everything

    _run(ask_everything, "setup", answers=answers, plain=plain, as_json=as_json)


def memory_setup(
    provider: Annotated[
        str | None,
        typer.Argument(metavar="[honcho]", help="Go straight to a Honcho service."),
    ] = None,
    answers: AnswersOption = None,
    plain: PlainFlag = False,
    as_json: JsonFlag = False,
) -> None:
    """Set up where memory is kept, how it works, and who is who. Shows all before saving."""
    if provider not in (None, "honcho"):
        fail(f"{provider}: write memory setup, or memory setup honcho", MISUSED)
    set_up_memory(only_honcho=provider == "honcho", answers=answers, plain=plain, as_json=as_json)


def honcho_setup(
    answers: AnswersOption = None, plain: PlainFlag = False, as_json: JsonFlag = False
) -> None:
    """Set up the Honcho service, how it works, and who is who. Shows all before saving."""
    set_up_memory(only_honcho=True, answers=answers, plain=plain, as_json=as_json)


def set_up_memory(*, only_honcho: bool, answers: Path | None, plain: bool, as_json: bool) -> None:
    """Run the wizard for memory alone, as ``memory setup`` does."""
    from functools import partial

    from gateway.setup.flow import ask_about_memory

    ask = partial(ask_about_memory, only_honcho=only_honcho)
    words = "memory setup honcho" if only_honcho else "memory setup"
    _run(ask, words, answers=answers, plain=plain, as_json=as_json)


def _run(
    ask: Callable[[Session], None],
    words: str,
    *,
    answers: Path | None,
    plain: bool,
    as_json: bool,
) -> None:
    from gateway.setup.asking import StoppedError

    with friendly():
        try:
            outcome = _asked(ask, _asker(words, answers, plain=plain))
        except (StoppedError, KeyboardInterrupt):
            fail("Stopped. Nothing was saved.", FAILED)
        show(outcome.as_json(), as_json=as_json, human=lambda: _print(outcome))
        if outcome.follow:
            let_follow(author("setup"), outcome.follow)
        if outcome.saved and outcome.install:
            from gateway.cli.model import fetch

            fetch(outcome.install)


def _asked(ask: Callable[[Session], None], asker: Asker) -> Outcome:
    from gateway.setup.answers import FileAsker
    from gateway.setup.asking import yes_or_no
    from gateway.setup.flow import conclude

    session = _begun(asker)
    if isinstance(asker, FileAsker):
        session.checking = yes_or_no(asker, "check", "", default=True)
    ask(session)
    if isinstance(asker, FileAsker):
        asker.finish()
    return conclude(session)


def _begun(asker: Asker) -> Session:
    """Begin on what there is; files that cannot be read are named, with what to do."""
    from gateway.model.errors import ConfigurationError
    from gateway.setup.answers import FileAsker
    from gateway.setup.session import Session

    try:
        return Session.begin(_bench(), asker)
    except ConfigurationError as error:
        last = "Nothing changed: mend these lines, then run it again."
        if isinstance(asker, FileAsker):
            last = f"{last[:-1]}; or answer mend: yes, which takes out what can be mended so."
        raise ConfigurationError(*error.problems, last) from None


def _asker(words: str, answers: Path | None, *, plain: bool) -> Asker:
    from gateway.cli.plain import Plain
    from gateway.setup.answers import FileAsker

    if answers is not None:
        return FileAsker(answers)
    if sys.stdin is None or not (sys.stdin.isatty() and sys.stderr.isatty()):
        fail(
            f"There is no terminal to ask on. Write the answers into a file and run: "
            f"hermes-gateway {words} --answers FILE (docs/setup.md lists them)",
            MISUSED,
        )
    simple = os.environ.get("TERM", "dumb") == "dumb" or bool(os.environ.get("NO_COLOR"))
    if plain or simple:
        return Plain(sys.stdin, sys.stderr)
    from gateway.cli.menus import Menus

    return Menus(sys.stdin, sys.stderr)


def _bench() -> Bench:
    from gateway import app
    from gateway.setup.session import Bench

    place, profile = home(), chosen_profile()
    return Bench(
        place,
        app.MANIFESTS,
        os.environ,
        load=lambda instead: app.load(place, profile=profile, instead=instead),
        rules_of=app.rules_of,
        enabled=app.enabled,
        stand_in=app.stand_in,
    )


def _print(outcome: Outcome) -> None:
    if not outcome.saved:
        typer.echo("Nothing was changed.")
        return
    for edit in outcome.edits:
        typer.echo(f"saved  {edit.path}")
    for step in outcome.steps:
        note(step)
