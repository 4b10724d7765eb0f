"""Asks in plain lines: numbered lists, defaults in words, nothing drawn anew, no colour.

For terminals that can do no more, for screen readers, and for whoever asked for it.
"""

from __future__ import annotations

import termios
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, TextIO

from gateway.setup.asking import Choice, Line, StoppedError, is_yes_or_no, yes_or_no

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gateway.setup.asking import Accounts, Option, Pairs

_NOBODY = "nobody"


class Plain:
    """Writes lines and reads lines. Ctrl-C and the end of the input raise ``StoppedError``."""

    def __init__(self, stdin: TextIO, out: TextIO) -> None:
        self._stdin = stdin
        self._out = out

    # --- see ``Asker`` ---------------------------------------------------------------------

    def say(self, text: str = "") -> None:
        self._out.write(f"{text}\n")
        self._out.flush()

    def enter(self, section: str, text: str, *, default: bool) -> bool:
        return yes_or_no(self, section, text, default=default)

    def choose(self, question: Choice) -> str:
        answers = _answers(question)
        if not is_yes_or_no(question):
            self.say(question.text)
            for shown, option in answers.items():
                self.say(f"  {shown}. {option.label}")
        default = next(shown for shown, one in answers.items() if one.key == question.default)
        while True:
            typed = self._read(_how(question, answers, default)).lower() or default
            for shown, option in answers.items():
                if typed in (shown, option.key, f"{shown}."):
                    return option.key
            self.say(f"{typed} is none of these.")

    def line(self, question: Line) -> str:
        while True:
            text = self._read(_prompt(question), secret=question.secret)
            if not text:
                if question.for_empty is not None:
                    return question.for_empty
                self.say("An answer is needed.")
            elif problem := question.check(text):
                self.say(f"{'It' if question.secret else text} {problem}.")
            else:
                return text

    def accounts(self, question: Accounts) -> tuple[str, ...]:
        self.say(question.text)
        for number, option in enumerate(question.seen, 1):
            self.say(f"  {number}. {option.label}")
        return self.typed_accounts(question)

    def pairs(self, question: Pairs) -> Mapping[str, str]:
        self.say(question.text)
        found = dict(question.present)
        while True:
            for key, value in found.items():
                self.say(f"  {key}={value}")
            typed = self._read("Type account=person, or -account to remove one; Enter means done.")
            if not typed:
                return found
            self._change(question, found, typed)

    def refused(self, question: str, problem: str) -> None:
        self.say(problem)

    def try_again(self, question: str, problem: str, options: tuple[Option, ...]) -> str:
        self.say(problem)
        return self.choose(Choice(question, "What now?", options, options[0].key))

    # --- pieces ----------------------------------------------------------------------------

    def typed_accounts(self, question: Accounts) -> tuple[str, ...]:
        """Read ids in one line; numbers of the list that was shown stand for theirs."""
        default = ", ".join(question.default) or _NOBODY
        numbers = "numbers of the list or ids" if question.seen else "ids"
        how = f"Type {numbers}, commas between them; Enter means {default}."
        while True:
            typed = self._read(f"{how}{' - means nobody.' if question.default else ''}")
            if not typed:
                return question.default
            pieces = [piece.strip() for piece in typed.split(",") if piece.strip(" -")]
            found = [_by_number(question, piece) for piece in pieces]
            wrong = [f"{one} {problem}." for one in found if (problem := question.check(one))]
            if not wrong:
                return tuple(dict.fromkeys(found))
            self.say("\n".join(wrong))

    def _change(self, question: Pairs, found: dict[str, str], typed: str) -> None:
        key, sign, value = (part.strip() for part in typed.partition("="))
        if typed.startswith("-") and not sign:
            if found.pop(typed[1:].strip(), None) is None:
                self.say(f"{typed[1:].strip()} is not in the list.")
        elif not sign:
            self.say(f"{typed} has no = in it.")
        elif problem := question.check(key, value):
            self.say(f"{typed} {problem}.")
        else:
            found[key] = value

    def _read(self, prompt: str, *, secret: bool = False) -> str:
        """Return what is typed, trimmed. A secret is hidden before anybody can know to type it."""
        try:
            with _unseen(self._stdin, self._out) if secret else nullcontext():
                self._out.write(f"{prompt}\n> ")
                self._out.flush()
                line = self._stdin.readline()
        except KeyboardInterrupt:
            self.say()
            raise StoppedError from None
        if not line:
            self.say()
            raise StoppedError
        return line.strip()


def _answers(question: Choice) -> dict[str, Option]:
    """Return the options by what is typed for them."""
    if is_yes_or_no(question):
        return {option.label[0]: option for option in question.options}
    numbers = iter(range(1, len(question.options) + 1))
    return {option.letter or str(next(numbers)): option for option in question.options}


def _how(question: Choice, answers: Mapping[str, Option], default: str) -> str:
    if is_yes_or_no(question):
        return f"{question.text} Type y or n; Enter means {default}."
    letters = " or letter" if any(one.letter for one in question.options) else ""
    label = answers[default].label.partition(":")[0]
    return f"Type a number{letters}; Enter means {default}, {label}."


def _prompt(question: Line) -> str:
    parts = [question.text]
    if question.secret:
        parts.append("What you type is not shown.")
    if question.default and question.secret:
        parts.append("Enter keeps the stored one.")
    elif meaning := question.default or question.suggestion or question.empty:
        parts.append(f"Enter means {meaning}.")
    return " ".join(parts)


def _by_number(question: Accounts, piece: str) -> str:
    if piece.isdigit() and 0 < int(piece) <= len(question.seen):
        return question.seen[int(piece) - 1].key
    return piece


@contextmanager
def _unseen(stdin: TextIO, out: TextIO) -> Iterator[None]:
    """Keep what is typed off the screen, where there is one."""
    if not stdin.isatty():
        yield
        return
    mode = termios.tcgetattr(stdin)
    quiet = [*mode[:3], mode[3] & ~termios.ECHO, *mode[4:]]
    termios.tcsetattr(stdin, termios.TCSADRAIN, quiet)
    try:
        yield
    finally:
        termios.tcsetattr(stdin, termios.TCSADRAIN, mode)
        out.write("\n")
        out.flush()
