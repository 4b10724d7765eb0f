"""Fill a settings model from nodes, led by the model's own annotations."""

from __future__ import annotations

import enum
import types
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
)

from pydantic import BaseModel, SecretStr, ValidationError

from gateway.settings import accounts, scalars
from gateway.settings.findings import Findings, shown
from gateway.settings.kinds import Clamp, Synonyms, TextKind
from gateway.settings.nodes import Node, Scalar, Style, Table
from gateway.settings.scalars import RefusedError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from pydantic_core import ErrorDetails

    from gateway.settings.nodes import Entry

ModelT = TypeVar("ModelT", bound=BaseModel)

_BAD = object()
_BOUNDS = {
    "greater_than_equal": ("ge", "too small; write {} or more"),
    "greater_than": ("gt", "too small; write more than {}"),
    "less_than_equal": ("le", "too large; write {} or less"),
    "less_than": ("lt", "too large; write less than {}"),
    "string_too_short": ("min_length", "too short; write at least {}"),
}


@dataclass(frozen=True, slots=True)
class Want:
    """What a key needs: an annotation without its wrappers, and what they said."""

    hint: Any
    kind: TextKind | None = None
    synonyms: Mapping[str, str] = field(default_factory=dict)
    clamp: Clamp | None = None

    @classmethod
    def of(cls, hint: Any, marks: Collection[Any] = ()) -> Want:
        while get_origin(hint) is Annotated:
            hint, *inner = get_args(hint)
            marks = (*inner, *marks)
        kind = next((mark for mark in marks if isinstance(mark, TextKind)), None)
        synonyms = next((mark.values for mark in marks if isinstance(mark, Synonyms)), {})
        clamp = next((mark for mark in marks if isinstance(mark, Clamp)), None)
        return cls(hint, kind, synonyms, clamp)

    @property
    def arms(self) -> tuple[Want, ...]:
        """The alternatives of a union, nothing left out; empty for anything else."""
        if get_origin(self.hint) not in (Union, types.UnionType):
            return ()
        return tuple(
            replace(inner, synonyms={**self.synonyms, **inner.synonyms})
            for inner in map(Want.of, get_args(self.hint))
        )


@dataclass(frozen=True, slots=True)
class Converter:
    """Turns nodes into values; every fault goes to ``findings`` with its place.

    A result made while faults were recorded is partial: the caller raises them all at the end.
    """

    findings: Findings
    #: names that may stand before the colon of an id
    platforms: Collection[str] = ()
    #: how a key of the outermost table is written in the file, where that differs
    spelled: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def fill(self, model: type[ModelT], table: Table, path: tuple[str, ...] = ()) -> ModelT | None:
        """Return ``model`` filled from ``table``, or None if a fault was recorded."""
        found = self._model(model, table, path)
        return found if isinstance(found, model) else None

    def _model(self, model: type[BaseModel], table: Table, path: tuple[str, ...]) -> Any:
        names = {info.alias or name: name for name, info in model.model_fields.items()}
        values: dict[str, Any] = {}
        for key, entry in table.entries.items():
            if key not in names:
                self.findings.unknown(entry.key, path, names)
                continue
            info = model.model_fields[names[key]]
            want = Want.of(info.annotation, info.metadata)
            values[key] = self._value(want, entry.value, self._where(path, key))
        good = {key: value for key, value in values.items() if value is not _BAD}
        try:
            return model.model_validate(good)
        except ValidationError as error:
            details = error.errors(include_url=False, include_input=False)
            first = {str(detail["loc"][:1]): detail for detail in sorted(details, key=_telling)}
            for detail in first.values():
                self._judged(detail, table, path, values)
            return _BAD

    def _where(self, path: tuple[str, ...], key: str) -> tuple[str, ...]:
        return (*path, key) if path else self.spelled.get(key, (key,))

    def _value(self, want: Want, node: Node, path: tuple[str, ...]) -> Any:
        """Return the value, or a mark that a fault was recorded."""
        try:
            return self._convert(want, node, path)
        except RefusedError as refused:
            problem = f"{shown(node, path)} {refused.problem}"
            self.findings.fault(node.source, path, problem)
            return _BAD

    def _convert(self, want: Want, node: Node, path: tuple[str, ...]) -> Any:
        if arms := want.arms:
            return self._either(arms, node, path)
        origin, hint = get_origin(want.hint) or want.hint, want.hint
        if isinstance(hint, type) and issubclass(hint, BaseModel):
            return self._section(hint, node, path)
        if isinstance(origin, type) and issubclass(origin, (tuple, frozenset, list, set)):
            return self._items(origin, Want.of(get_args(hint)[0]), node, path)
        if isinstance(origin, type) and hasattr(origin, "keys"):
            return self._mapping(Want.of(get_args(hint)[1]), node, path)
        if not isinstance(node, Scalar):
            raise RefusedError("a single value", "write one")
        return self._scalar(want, node, path)

    def _section(self, model: type[BaseModel], node: Node, path: tuple[str, ...]) -> Any:
        if isinstance(node, Scalar) and node.absent:
            return self._model(model, Table(node.source), path)
        if not isinstance(node, Table):
            raise RefusedError("a section", "write its keys below it")
        return self._model(model, node, path)

    def _items(self, kind: type, want: Want, node: Node, path: tuple[str, ...]) -> Any:
        if isinstance(node, Table):
            raise RefusedError("a list", "write [a, b]")
        if isinstance(node, Scalar):
            if node.null or not node.text.strip() or "," in node.text:
                raise RefusedError("a list", "write [a, b], or [] for none")
            return kind([self._convert(want, node, path)])
        values = [self._value(want, item, path) for item in node.items]
        return _BAD if any(value is _BAD for value in values) else kind(values)

    def _mapping(self, want: Want, node: Node, path: tuple[str, ...]) -> Any:
        if not isinstance(node, Table):
            raise RefusedError("a mapping", "write key: value pairs, or {} for none")
        values = {
            key: self._value(want, entry.value, (*path, key))
            for key, entry in node.entries.items()
        }
        return _BAD if any(value is _BAD for value in values.values()) else values

    def _either(self, arms: tuple[Want, ...], node: Node, path: tuple[str, ...]) -> Any:
        """Return what the first fitting alternative makes of the node."""
        optional = any(arm.hint is type(None) for arm in arms)
        if optional and isinstance(node, Scalar) and _is_nothing(node, arms):
            return None
        real = [arm for arm in arms if arm.hint is not type(None)]
        if len(real) == 1:
            return self._convert(real[0], node, path)
        refused: list[RefusedError] = []
        for arm in real:
            trial = replace(self, findings=Findings(self.findings.home))
            try:
                found = trial._convert(arm, node, path)
            except RefusedError as error:
                refused.append(error)
                continue
            if found is not _BAD:
                return found
        wants = " or ".join(error.wants for error in refused)
        remedies = dict.fromkeys(error.remedy for error in refused if error.remedy)
        raise RefusedError(wants, " or ".join(remedies))

    def _scalar(self, want: Want, node: Scalar, path: tuple[str, ...]) -> Any:
        hint = want.hint
        if get_origin(hint) is Literal:
            return scalars.choice(node, map(str, get_args(hint)), want.synonyms)
        if isinstance(hint, type) and issubclass(hint, enum.Enum):
            return scalars.choice(node, (str(one.value) for one in hint), want.synonyms)
        if hint is int:
            return self._integer(want, node, path)
        if want.kind is not None:
            return self._special_text(want.kind, node, path)
        return _BY_TYPE.get(hint, scalars.text)(node)

    def _integer(self, want: Want, node: Scalar, path: tuple[str, ...]) -> int:
        value = scalars.integer(node)
        if want.clamp is None or want.clamp.low <= value <= want.clamp.high:
            return value
        edge = min(max(value, want.clamp.low), want.clamp.high)
        self.findings.warn(
            node.source,
            path,
            f"{value} is outside {want.clamp.low}-{want.clamp.high}; {edge} is used",
        )
        return edge

    def _special_text(self, kind: TextKind, node: Scalar, path: tuple[str, ...]) -> str:
        if kind is TextKind.ID:
            return accounts.account(node, path[-1])
        if kind is TextKind.QUALIFIED_ID:
            return accounts.qualified(node, self.platforms)
        if kind is TextKind.ANY_ID:
            return accounts.bare_or_qualified(node, self.platforms)
        return _BY_KIND[kind](node)

    def _judged(
        self,
        detail: ErrorDetails,
        table: Table,
        path: tuple[str, ...],
        values: Mapping[str, Any],
    ) -> None:
        """Record what pydantic itself has against a value."""
        key = str(detail["loc"][0]) if detail["loc"] else ""
        if values.get(key) is _BAD:
            return
        entry: Entry | None = table.entries.get(key)
        node = entry.value if entry else table
        where = self._where(path, key) if key else path
        self.findings.fault(node.source, where, _problem(detail, node if entry else None, where))


def _telling(detail: ErrorDetails) -> bool:
    """Sort what says most last: an alternative's bound rather than another's type."""
    return detail["type"] in _BOUNDS


def _is_nothing(node: Scalar, arms: tuple[Want, ...]) -> bool:
    forever = node.text == "forever" and any(arm.hint is timedelta for arm in arms)
    return forever or node.null or (node.style is Style.VARIABLE and not node.text.strip())


def _problem(detail: ErrorDetails, node: Node | None, path: tuple[str, ...]) -> str:
    if detail["type"] == "missing":
        return "is missing; write it"
    bound = _BOUNDS.get(detail["type"])
    context = detail.get("ctx", {})
    if bound is not None:
        limit = context[bound[0]]
        text = bound[1].format(f"{limit:g}" if isinstance(limit, float) else limit)
    else:
        message = detail["msg"].removeprefix("Value error, ").removeprefix("Assertion failed, ")
        text = f"not accepted ({message})"
    return f"{shown(node, path)} is {text}" if node is not None else text


def _secret(scalar: Scalar) -> SecretStr:
    return SecretStr(scalars.text(scalar))


_BY_TYPE: dict[Any, Callable[[Scalar], Any]] = {
    bool: scalars.boolean,
    float: scalars.number,
    timedelta: scalars.duration,
    SecretStr: _secret,
}
_BY_KIND = {
    TextKind.NAME: scalars.name,
    TextKind.ZONE: scalars.zone,
    TextKind.URL: scalars.address,
}
