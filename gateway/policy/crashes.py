"""What may be done with work that was running when its process died.

A crash says little about any one of the items that ran: power fails, memory runs out, another
conversation's turn takes the process down. So crashes are counted apart from tries that failed
by themselves. At first everything is simply done again; what was there at one crash too many is
done one at a time, so that the next crash tells the culprit from its company. What runs alone
and takes the process down time after time is given up.
"""

from __future__ import annotations

from enum import Enum, auto

#: crashes after which an item no longer runs beside others that were there as often
COMPANY = 2
#: crashes after which an item is given up; those beyond ``COMPANY`` it met alone
MOST = 5


class Way(Enum):
    """How an item may run."""

    BESIDE_OTHERS = auto()
    ALONE = auto()
    NOT_AGAIN = auto()


def way(crashes: int, *, patient: bool = False) -> Way:
    """Return how an item may run that was running at so many crashes.

    ``patient``: work that is never given up and may take hours; nobody else waits for it.
    """
    if patient or crashes < COMPANY:
        return Way.BESIDE_OTHERS
    return Way.ALONE if crashes < MOST else Way.NOT_AGAIN
