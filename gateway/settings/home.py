"""The folder that holds everything of one profile, and the places in it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gateway.model.errors import ConfigurationError
from gateway.settings.findings import nearest

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT_PROFILE = "default"
_PROFILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_FOLDER_MODE = 0o700
_FILE_MODE = 0o600


def user_folder(environ: Mapping[str, str]) -> Path:
    """Return the user's own folder as the given environment says it."""
    return Path(environ["HOME"]) if environ.get("HOME") else Path.home()


def make_private_folder(path: Path) -> Path:
    """Create ``path`` and its missing parents for their owner alone; return it.

    Raises ``ConfigurationError`` where that cannot be.
    """
    try:
        for folder in reversed((path, *path.parents)):
            if not folder.exists():
                folder.mkdir(mode=_FOLDER_MODE, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(
            f"{path}: cannot be made ({error.strerror}); make {path.parent} writable, or set "
            "HERMES_HOME to a folder that is"
        ) from error
    return path


def make_private_file(path: Path) -> Path:
    """Create ``path`` empty for its owner alone unless it exists; return it."""
    make_private_folder(path.parent)
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, _FILE_MODE))
    return path


def check_profile(home: Home) -> None:
    """Raise ``ConfigurationError`` naming the profiles there are, unless ``home`` is of one."""
    if home.profile == DEFAULT_PROFILE or home.path.is_dir():
        return
    names = [one.profile for one in home.neighbours()]
    close = nearest(home.profile, names)
    hint = f"; did you mean {close}?" if close else "."
    raise ConfigurationError(
        f"--profile: there is no profile {home.profile}{hint} There are: {', '.join(names)}. "
        f"A new one: hermes-gateway profile create {home.profile}"
    )


@dataclass(frozen=True, slots=True)
class Home:
    """One profile's folder. Nothing is created by looking at it."""

    path: Path
    #: ``~``, for the memory service's settings that other programs share
    user: Path

    @classmethod
    def find(cls, environ: Mapping[str, str], profile: str | None = None) -> Home:
        """Return ``$HERMES_HOME`` or ``~/.hermes``, or the folder of a profile inside it.

        ``$HERMES_HOME`` may itself name a profile's folder; ``profile`` is then its neighbour.
        Raises ``ConfigurationError`` for a name that cannot be a folder's.
        """
        user = user_folder(environ)
        given = environ.get("HERMES_HOME", "").strip()
        home = cls(Path(given).expanduser().absolute() if given else user / ".hermes", user)
        if profile is None or profile == home.profile:
            return home
        if not _PROFILE.fullmatch(profile):
            raise ConfigurationError(
                f"--profile: {profile!r} is not a profile's name; use letters, digits, - and _"
            )
        return home.of(profile)

    @property
    def profile(self) -> str:
        """The profile that this folder belongs to."""
        return self.path.name if self.path.parent.name == "profiles" else DEFAULT_PROFILE

    @property
    def root(self) -> Path:
        """The default profile's folder, in which the others' are."""
        return self.path if self.profile == DEFAULT_PROFILE else self.path.parent.parent

    def of(self, profile: str) -> Home:
        """Return the home of another profile beside this one."""
        root = self.root
        own = root if profile == DEFAULT_PROFILE else root / "profiles" / profile
        return Home(own, self.user)

    def neighbours(self) -> list[Home]:
        """Return the home of every profile there is, the default one first, by name."""
        try:
            folders = [each.name for each in (self.root / "profiles").iterdir() if each.is_dir()]
        except OSError:
            folders = []
        names = sorted(name for name in folders if _PROFILE.fullmatch(name))
        return [self.of(name) for name in (DEFAULT_PROFILE, *names)]

    @property
    def config(self) -> Path:
        return self.path / "config.yaml"

    @property
    def env(self) -> Path:
        return self.path / ".env"

    @property
    def honcho_candidates(self) -> tuple[Path, ...]:
        """Where the memory service's settings are looked for; the first found is the one.

        A profile without a file of its own has its block in the default profile's.
        """
        return tuple(
            dict.fromkeys(
                (
                    self.path / "honcho.json",
                    self.root / "honcho.json",
                    self.user / ".hermes" / "honcho.json",
                    self.user / ".honcho" / "config.json",
                )
            )
        )

    @property
    def honcho(self) -> Path:
        """The file of the memory service's settings that is read, and written."""
        found = (path for path in self.honcho_candidates if os.path.lexists(path))
        return next(found, self.honcho_candidates[0])

    @property
    def soul(self) -> Path:
        return self.path / "SOUL.md"

    @property
    def identity(self) -> Path:
        return self.path / "IDENTITY.md"

    @property
    def agents(self) -> Path:
        return self.path / "AGENTS.md"

    @property
    def memories(self) -> Path:
        """The owner's MEMORY.md and USER.md; other people's are under ``people``."""
        return self.path / "memories"

    @property
    def gateway(self) -> Path:
        """What the gateway itself keeps."""
        return self.path / "gateway"

    @property
    def database(self) -> Path:
        return self.gateway / "gateway.db"

    @property
    def lock(self) -> Path:
        return self.gateway / "gateway.lock"

    @property
    def secret(self) -> Path:
        """The key of pairing codes; losing it voids the codes that wait."""
        return self.gateway / "secret.key"

    @property
    def console_history(self) -> Path:
        """Lines that were typed at the console, for its arrow keys."""
        return self.gateway / "console_history"

    @property
    def socket(self) -> Path:
        return self.gateway / "gateway.sock"

    @property
    def people(self) -> Path:
        return self.gateway / "people"

    def person(self, peer: str) -> Path:
        """Return the memory folder of one person who is not the owner (``peer`` is clean)."""
        return self.people / peer / "memories"

    @property
    def files(self) -> Path:
        """What people sent, for as long as ``retention.raw`` says."""
        return self.gateway / "files"

    @property
    def models(self) -> Path:
        """Weights of local models."""
        return self.gateway / "models"

    @property
    def hermes_database(self) -> Path:
        """Hermes Agent's own database: never opened for writing."""
        return self.path / "state.db"
