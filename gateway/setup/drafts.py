"""What set-up is going to change, file by file, and how that is saved: all of it or nothing."""

from __future__ import annotations

import os
import shutil
import signal
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gateway.model.errors import ConfigurationError
from gateway.settings import files, rewrite, rewrite_env
from gateway.settings.findings import HIDDEN, is_secret_key
from gateway.settings.home import make_private_folder
from gateway.settings.replace import ConcurrentChangeError, UnwritableError
from gateway.settings.replace import rewrite as replace_text
from gateway.settings.splice import Remove

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from gateway.settings.dialects import Value
    from gateway.settings.home import Home
    from gateway.setup.mending import Mended

Key = tuple[str, ...]
_PRIVATE = 0o600


@dataclass(slots=True)
class Draft:
    """Keys of the three files and what they are to hold."""

    config: dict[Key, Value | Remove] = field(default_factory=dict)
    #: keys as they hold for the profile's host; those that begin with ``hosts`` are places
    honcho: dict[Key, Value | Remove] = field(default_factory=dict)
    env: dict[str, str | Remove] = field(default_factory=dict)

    def add(self, other: Draft) -> None:
        """Take over the changes of another draft; they win."""
        self.config |= other.config
        self.honcho |= other.honcho
        self.env |= other.env


@dataclass(frozen=True, slots=True)
class Edit:
    """One file as it was read, and as it shall be."""

    path: Path
    before: files.Content
    after: str = field(repr=False)
    #: what changes, one line for each key, without secrets
    lines: tuple[str, ...]
    #: a secret is written, so nobody else may read the file
    private: bool
    #: the file had faults: where it stays as it was
    mended: Mended | None = None

    def transform(self, _present: str) -> str:
        """Return the text as it shall be."""
        return self.after


@dataclass(frozen=True, slots=True)
class Originals:
    """The three files as they were when the questions began."""

    home: Home
    honcho_file: Path
    hosts: tuple[str, ...]
    contents: Mapping[Path, files.Content]
    #: what stands for those that have faults
    mended: Mapping[Path, Mended] = field(default_factory=dict)

    @classmethod
    def read(
        cls,
        home: Home,
        honcho_file: Path,
        hosts: tuple[str, ...],
        mended: Mapping[Path, Mended] | None = None,
    ) -> Originals:
        """Read the files. Raises ``ConfigurationError`` for one that cannot be read."""
        mended = mended or {}
        contents = {}
        for path in (home.env, honcho_file, home.config):
            if path in mended and mended[path].whole:
                contents[path] = files.Content("", files.digest(path))
                continue
            try:
                contents[path] = files.load(path) or files.Content("", files.MISSING)
            except files.UnreadableError as error:
                raise ConfigurationError(f"{path}: {error.problem}") from None
        return cls(home, honcho_file, hosts, contents, mended)

    @property
    def texts(self) -> dict[Path, str]:
        """What there is, by file."""
        return {path: self.text(path) for path, one in self.contents.items() if one.digest}

    def text(self, path: Path) -> str:
        """Return what a file holds, without its faults."""
        return self.mended[path].text if path in self.mended else self.contents[path].text

    def edits(self, draft: Draft) -> list[Edit]:
        """Return the files that change, secrets first. Raises ``ConfigurationError``."""
        env, honcho, config = self.home.env, self.honcho_file, self.home.config
        texts = {path: self.text(path) for path in self.contents}
        after = {
            env: rewrite_env.changed(env, texts[env], draft.env),
            honcho: self._honcho(texts[honcho], draft),
            config: rewrite.changed(config, texts[config], draft.config),
        }
        lines = {
            env: [_line((name,), value, HIDDEN) for name, value in draft.env.items()],
            honcho: [_line(key, value) for key, value in draft.honcho.items()],
            config: [_line(key, value) for key, value in draft.config.items()],
        }
        if "pinPeerName" in texts[honcho] and "pinPeerName" not in after[honcho]:
            lines[honcho].append("pinPeerName is now called pinUserPeer")
        return [
            self._edit(path, after[path], lines[path])
            for path in after
            if after[path] != texts[path] or path in self.mended
        ]

    def _edit(self, path: Path, after: str, lines: list[str]) -> Edit:
        mended, private = self.mended.get(path), _secret(lines)
        if mended is not None:
            lines = [*mended.lines, f"as it was, it stays in {mended.kept}", *lines]
        return Edit(path, self.contents[path], after, tuple(lines), private, mended)

    def _honcho(self, text: str, draft: Draft) -> str:
        path = self.honcho_file
        if not draft.honcho and not self.contents[path].digest:
            return text
        return rewrite.honcho_text(path, text, draft.honcho, hosts=self.hosts)


def _secret(lines: list[str]) -> bool:
    return any(line.endswith(HIDDEN) for line in lines)


def _line(key: Key, value: Value | Remove, shown: str = "") -> str:
    name = ".".join(key)
    if isinstance(value, Remove):
        return f"{name}: removed"
    return f"{name}: {shown or ('' if value == '' else _shown(key, value)) or 'empty'}"


def _shown(key: Key, value: Any) -> str:
    if any(is_secret_key(name) for name in key[-1:]):
        return HIDDEN
    if isinstance(value, dict):
        inside = ", ".join(f"{name}: {_shown((name,), one)}" for name, one in value.items())
        return f"{{{inside}}}"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return {None: "none", True: "true", False: "false"}.get(value, str(value))


def save(edits: list[Edit], home: Home) -> None:
    """Write the files, after all of them were found as they were read and writable.

    Ctrl-C waits meanwhile. Raises ``ConcurrentChangeError`` or ``UnwritableError``; each says what
    was saved before, which is nothing unless a disk fails between two files.
    """
    for edit in edits:
        _must_be_writable(edit)
    saved: list[Path] = []
    with _undisturbed():
        make_private_folder(home.path)
        for edit in edits:
            try:
                _replace(edit)
                if edit.private:
                    _hide(edit.path)
            except ConfigurationError as error:
                raise _unsaved(error, saved) from None
            saved.append(edit.path)


def _replace(edit: Edit) -> None:
    """Write one file; one that had faults stays as it was under another name."""
    if edit.mended is None:
        replace_text(edit.path, edit.before.digest, edit.transform)
        return
    target, kept = edit.path.resolve(), edit.mended.kept
    try:
        if not edit.mended.whole:
            shutil.copy2(target, kept)
            replace_text(edit.path, edit.before.digest, edit.transform)
            return
        target.replace(kept)
    except OSError as error:
        raise UnwritableError(f"{kept}: cannot be written ({error.strerror})") from None
    try:
        replace_text(edit.path, files.MISSING, edit.transform)
    except ConfigurationError:
        kept.replace(target)
        raise


def _must_be_writable(edit: Edit) -> None:
    target = edit.path.resolve()
    if files.digest(target) != edit.before.digest:
        raise ConcurrentChangeError(
            f"{edit.path}: changed while the questions were asked; nothing was saved: run the "
            "set-up again"
        )
    folder = next((one for one in target.parents if one.exists()), target.parent)
    blocked = target if target.exists() and not os.access(target, os.W_OK) else None
    if blocked is None and not os.access(folder, os.W_OK | os.X_OK):
        blocked = folder
    if blocked is not None:
        raise UnwritableError(
            f"{edit.path}: cannot be written; nothing was saved: make {blocked} writable for "
            "this user"
        )


def _unsaved(error: ConfigurationError, saved: list[Path]) -> ConfigurationError:
    before = f"saved before: {', '.join(map(str, saved))}" if saved else "nothing was saved"
    return type(error)(f"{error}; {before}")


def _hide(path: Path) -> None:
    if path.stat().st_mode & 0o077:
        path.chmod(_PRIVATE)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Let no Ctrl-C come between two files."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
