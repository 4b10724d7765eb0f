"""What a text in a settings model stands for, told to the reader by ``Annotated``."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

if TYPE_CHECKING:
    from collections.abc import Mapping


class TextKind(StrEnum):
    """What the reader checks about a text beyond its being one."""

    #: an account or place id under a key that names its platform
    ID = "id"
    #: ``platform:id``
    QUALIFIED_ID = "qualified id"
    #: ``id`` or ``platform:id``
    ANY_ID = "id, bare or qualified"
    #: the name of a person, an agent or a workspace, or a piece of one
    NAME = "name"
    #: an IANA time zone
    ZONE = "time zone"
    #: an http, https, ws, wss or postgresql address
    URL = "address"


@dataclass(frozen=True, slots=True)
class Synonyms:
    """Other spellings of an enumeration's values, as older files hold them."""

    values: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Clamp:
    """A whole number outside the range is moved to its edge, with a warning."""

    low: int
    high: int


Id = Annotated[str, TextKind.ID]
QualifiedId = Annotated[str, TextKind.QUALIFIED_ID]
AnyId = Annotated[str, TextKind.ANY_ID]
Name = Annotated[str, TextKind.NAME]
Zone = Annotated[str, TextKind.ZONE]
Url = Annotated[str, TextKind.URL]
