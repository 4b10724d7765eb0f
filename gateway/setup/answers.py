"""A file of answers in the place of a person: every question finds its answer by its id."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.model.errors import ConfigurationError
from gateway.settings import files, scalars
from gateway.settings.findings import nearest, shown, shown_text
from gateway.settings.json_nodes import parse_json
from gateway.settings.nodes import Items, Node, Scalar, Source, Table
from gateway.settings.scalars import RefusedError
from gateway.settings.yaml_nodes import parse_yaml
from gateway.setup.asking import NO, YES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from gateway.setup.asking import Accounts, Choice, Line, Option, Pairs

#: every id that a file may hold; ``*`` stands for a platform
KNOWN = frozenset(
    {
        *("check", "mend", "name"),
        *("model.source", "model.base_url", "model.key", "model.name", "model.install"),
        *("platforms.telegram.token", "platforms.discord.token"),
        *("platforms.slack.bot_token", "platforms.slack.app_token"),
        "platforms.slack.signing_secret",
        *("platforms.*.allow", "platforms.*.admins"),
        *("who.answer", "who.my_ids.*", "who.prefix", "who.pooled", "who.follow"),
        *("who.pinUserPeer", "who.userPeerAliases", "who.runtimePeerPrefix"),
        *("memory.place", "memory.key", "memory.base_url", "memory.token"),
        *("memory.agent", "memory.workspace"),
        *("memory.tuning.observationMode", "memory.tuning.writeFrequency"),
        *("memory.tuning.recallMode", "memory.tuning.contextTokens"),
        *("memory.tuning.dialecticCadence", "memory.tuning.dialecticReasoningLevel"),
        "memory.tuning.sessionStrategy",
    }
)
#: answers that hold maps of the operator's own keys
_MAPS = frozenset({"who.userPeerAliases"})
#: answers that may be there in vain: whether they are needed depends on what there is
_AT_WILL = frozenset({"mend", "who.follow"})
_PLATFORMS = ("telegram", "discord", "slack")


class AnswersError(ConfigurationError):
    """The file of answers cannot be used; nothing was saved."""


class FileAsker:
    """Answers from a file. Ask everything, then ``finish``: it names all that is wrong."""

    def __init__(self, path: Path) -> None:
        """Read the file. Raises ``AnswersError``."""
        self._path = path
        self._root = _parse(path)
        self._used: set[str] = set()
        self._problems: list[str] = []
        self._known = {known.replace("*", platform) for known in KNOWN for platform in _PLATFORMS}
        self._problems += [self._unknown(name, node) for name, node in self._strangers()]

    # --- see ``Asker`` ---------------------------------------------------------------------

    def say(self, text: str = "") -> None:
        """Nobody listens."""

    def enter(self, section: str, text: str, *, default: bool) -> bool:
        return self._node(section) is not None

    def choose(self, question: Choice) -> str:
        scalar = self._scalar(question.id, must=question.must)
        if scalar is None:
            return question.unsaid or question.default
        keys = [option.key for option in question.options]
        word = scalar.text.strip()
        if set(keys) <= {YES, NO}:
            word = _switch(scalar)
        if word not in keys:
            self._fault(question.id, scalar, f"is none of {', '.join(keys)}")
            return question.default
        return word

    def line(self, question: Line) -> str:
        scalar = self._scalar(question.id, must=question.must)
        if scalar is None or not scalar.text.strip():
            return question.default
        text = scalar.text.strip()
        if problem := question.check(text):
            self._fault(question.id, None if question.secret else scalar, problem)
        return text

    def accounts(self, question: Accounts) -> tuple[str, ...]:
        node = self._take(question.id)
        if node is None:
            return question.default
        found = []
        for item in node.items if isinstance(node, Items) else (node,):
            text = item.text.strip() if isinstance(item, Scalar) else ""
            if problem := question.check(text) if text else "is no id":
                self._fault(question.id, item, problem)
            found.append(text)
        return tuple(found)

    def pairs(self, question: Pairs) -> Mapping[str, str]:
        node = self._take(question.id)
        if node is None:
            return question.present
        if not isinstance(node, Table):
            self._fault(question.id, node, "is no map of account to person")
            return question.present
        found: dict[str, str] = {}
        for key, entry in node.entries.items():
            value = entry.value.text.strip() if isinstance(entry.value, Scalar) else ""
            if problem := question.check(key.strip(), value):
                self._fault(f"{question.id}.{shown_text(key)}", entry.value, problem)
            found[key.strip()] = value
        return found

    def refused(self, question: str, problem: str) -> None:
        raise AnswersError(*self._problems, f"{self._path}: {question}: {problem}")

    def try_again(self, question: str, problem: str, options: tuple[Option, ...]) -> str:
        raise AnswersError(
            *self._problems,
            f"{self._path}: {question}: {problem} (check: no saves without asking)",
        )

    # --- the file --------------------------------------------------------------------------

    def finish(self) -> None:
        """Raise ``AnswersError`` for everything wrong, missing, unknown or not asked for."""
        unused = [
            f"{self._place(node)}: {name}: is not asked for with the other answers; remove it"
            for name, node in _leaves(self._root, ())
            if name in self._known - self._used - _AT_WILL
        ]
        if problems := self._problems or unused:
            raise AnswersError(*problems)

    def _node(self, name: str) -> Node | None:
        return self._root.get(*name.split("."))

    def _take(self, name: str) -> Node | None:
        self._used.add(name)
        node = self._node(name)
        return None if isinstance(node, Scalar) and node.null else node

    def _scalar(self, name: str, *, must: bool) -> Scalar | None:
        node = self._take(name)
        if node is None and must:
            problem = f"{self._path}: {name}: is missing; write an answer"
            if problem not in self._problems:
                self._problems.append(problem)
        if node is not None and not isinstance(node, Scalar):
            self._fault(name, node, "is not a single value")
            return None
        return node

    def _strangers(self) -> Iterator[tuple[str, Node]]:
        return (
            (name, node)
            for name, node in _leaves(self._root, ())
            if name not in self._known and name.rpartition(".")[0] not in _MAPS
        )

    def _unknown(self, name: str, node: Node) -> str:
        return f"{self._place(node)}: {name}: unknown answer; {self._hint(name)}"

    def _hint(self, name: str) -> str:
        if below := sorted(each for each in self._known if each.startswith(f"{name}.")):
            return f"its answers have names of their own, such as {below[0]}"
        close = nearest(name, self._known)
        return f"did you mean {close}?" if close else "no question has this name"

    def _fault(self, name: str, node: Node | None, problem: str) -> None:
        place = self._place(node) if node else str(self._path)
        value = f"{shown(node, name.split('.'))} " if node else ""
        self._problems.append(f"{place}: {name}: {value}{problem}")

    def _place(self, node: Node) -> str:
        return f"{self._path}:{node.source.line}"


def _parse(path: Path) -> Table:
    try:
        content = files.load(path)
        if content is None:
            raise AnswersError(f"{path}: there is no such file")
        parse = parse_json if path.suffix == ".json" else parse_yaml
        root = parse(content.text, path)
    except files.UnreadableError as error:
        place = f"{path}:{error.line}" if error.line else str(path)
        raise AnswersError(f"{place}: {error.problem}") from None
    if root is None:
        return Table(Source(path))
    if not isinstance(root, Table):
        raise AnswersError(f"{path}: write `question: answer` pairs")
    return root


def _leaves(table: Table, path: tuple[str, ...]) -> Iterator[tuple[str, Node]]:
    """Yield every answer by its dotted name; a map that is one answer is not looked into."""
    for key, entry in table.entries.items():
        name = ".".join((*path, key))
        if isinstance(entry.value, Table) and name not in _MAPS:
            yield from _leaves(entry.value, (*path, key))
        else:
            yield name, entry.value


def _switch(scalar: Scalar) -> str:
    try:
        return YES if scalars.boolean(scalar) else NO
    except RefusedError:
        return scalar.text.strip()
