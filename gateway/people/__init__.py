"""Who is who, for operators: people and their accounts, aliases with preview, history and undo,
and memory that follows. One service behind the commands, the page and the file.
"""

from gateway.people.rehoming import Rehoming
from gateway.people.service import People
from gateway.people.values import (
    AccountView,
    AliasView,
    Applied,
    Conflict,
    Estimate,
    Following,
    Gathering,
    Move,
    PersonView,
    Preview,
    Remains,
)
from gateway.policy.identity_change import Change, Edit
from gateway.store.identity_changes import Author, Record

__all__ = [
    "AccountView",
    "AliasView",
    "Applied",
    "Author",
    "Change",
    "Conflict",
    "Edit",
    "Estimate",
    "Following",
    "Gathering",
    "Move",
    "People",
    "PersonView",
    "Preview",
    "Record",
    "Rehoming",
    "Remains",
]
