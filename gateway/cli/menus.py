"""Asks with menus that are moved through by arrow keys; the only place that knows questionary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TextIO

import questionary
from prompt_toolkit.input import create_input
from prompt_toolkit.output import create_output

from gateway.cli.plain import Plain
from gateway.setup.asking import NO, YES, StoppedError, is_yes_or_no

if TYPE_CHECKING:
    from gateway.setup.asking import Accounts, Choice, Line

_OTHERS = "others"


class Menus(Plain):
    """Draws on ``out``, so that standard output is left for the result."""

    def __init__(self, stdin: TextIO, out: TextIO) -> None:
        super().__init__(stdin, out)
        self._streams: dict[str, Any] = {
            "input": create_input(stdin),
            "output": create_output(stdout=out),
        }

    def choose(self, question: Choice) -> str:
        if is_yes_or_no(question):
            asked = questionary.confirm(
                question.text, default=question.default == YES, **self._streams
            )
            return YES if self._ask(asked) else NO
        options = [
            questionary.Choice(option.label, option.key, shortcut_key=option.letter or None)
            for option in question.options
        ]
        asked = questionary.select(
            question.text,
            options,
            default=question.default,
            use_shortcuts=any(option.letter for option in question.options),
            **self._streams,
        )
        return str(self._ask(asked))

    def line(self, question: Line) -> str:
        def judge(text: str) -> bool | str:
            text = text.strip()
            if not text:
                return question.for_empty is not None or "An answer is needed."
            problem = question.check(text)
            return True if problem is None else f"It {problem}."

        if question.secret:
            note = " (Enter keeps the stored one)" if question.default else ""
            asked = questionary.password(f"{question.text}{note}", validate=judge, **self._streams)
        else:
            shown = question.default or question.suggestion
            note = "" if shown or not question.empty else f" (Enter means {question.empty})"
            asked = questionary.text(
                f"{question.text}{note}", shown, validate=judge, **self._streams
            )
        return str(self._ask(asked)).strip() or question.for_empty or ""

    def accounts(self, question: Accounts) -> tuple[str, ...]:
        if not question.seen:
            self.say(question.text)
            return self.typed_accounts(question)
        seen = [
            questionary.Choice(one.label, one.key, checked=one.key in question.default)
            for one in question.seen
        ]
        unseen = tuple(
            one for one in question.default if one not in {option.key for option in question.seen}
        )
        more = questionary.Choice("others, whose ids I type", _OTHERS, checked=bool(unseen))
        asked = questionary.checkbox(question.text, [*seen, more], **self._streams)
        chosen = [str(one) for one in self._ask(asked)]
        if _OTHERS not in chosen:
            return tuple(chosen)
        chosen.remove(_OTHERS)
        typed = self.typed_accounts(
            type(question)(question.id, question.text, default=unseen, check=question.check)
        )
        return tuple(dict.fromkeys((*chosen, *typed)))

    def _read(self, prompt: str, *, secret: bool = False) -> str:
        ask = questionary.password if secret else questionary.text
        return str(self._ask(ask(prompt, **self._streams))).strip()

    def _ask(self, asked: questionary.Question) -> Any:
        try:
            return asked.unsafe_ask()
        except (KeyboardInterrupt, EOFError):
            raise StoppedError from None
