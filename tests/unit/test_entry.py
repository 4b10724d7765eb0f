"""The first moments of the command."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence


class _Interrupting:
    """A finder during whose search somebody presses Ctrl-C."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: object = None) -> None:
        if name == "gateway.cli.main":
            raise KeyboardInterrupt


def test_ctrl_c_while_the_command_is_loaded_ends_it_quietly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import gateway.cli
    from gateway.cli.entry import main

    monkeypatch.delitem(sys.modules, "gateway.cli.main", raising=False)
    monkeypatch.delattr(gateway.cli, "main", raising=False)
    monkeypatch.setattr(sys, "meta_path", [_Interrupting(), *sys.meta_path])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130
