"""A home's configuration and database, as the gateway and the commands beside it open them."""

from __future__ import annotations

import getpass
from pathlib import Path
from typing import TYPE_CHECKING

from gateway.app.loading import load as load
from gateway.app.platforms import platform_problems
from gateway.model.errors import ConfigurationError
from gateway.model.ids import PlaceId
from gateway.pipeline.rules import build
from gateway.policy.session import ConsoleNaming, console_session
from gateway.settings.home import make_private_folder
from gateway.settings.read import needs_service_problem
from gateway.store import migrate
from gateway.store.sqlite import SqliteStore

if TYPE_CHECKING:
    from gateway.pipeline.rules import Rules
    from gateway.settings.home import Home
    from gateway.settings.read import Loaded
    from gateway.store.engine import Store


def rules_of(loaded: Loaded, *, fresh: str = "") -> Rules:
    """Return the pipeline's rules for a configuration, as of the present folder."""
    cwd = _present_folder()
    outside = ConsoleNaming(
        manual=loaded.honcho.sessions,
        title="",
        strategy=loaded.honcho.session_strategy,
        cwd=cwd,
        git_root=_git_root(cwd),
        fresh=fresh,
        workspace=loaded.honcho.workspace,
        peer="",
        peer_prefix=loaded.honcho.session_peer_prefix,
    )
    return build(loaded.settings, loaded.honcho, outside=outside)


def _present_folder() -> Path:
    """Return where we are; the root, which names no session, where that folder is gone."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path("/")


def _git_root(folder: Path) -> Path | None:
    return next((one for one in (folder, *folder.parents) if (one / ".git").exists()), None)


def start_problems(loaded: Loaded) -> list[str]:
    """Return all that would keep a gateway with this configuration from starting."""
    others = (needs_service_problem(loaded), _store_problem(loaded), _encoder_problem(loaded))
    return [*platform_problems(loaded), *filter(None, others)]


def _encoder_problem(loaded: Loaded) -> str | None:
    from gateway.agent.embed import open_embedder

    try:
        open_embedder(loaded.settings.embeddings, loaded.secrets)
    except ConfigurationError as error:
        return str(error)
    return None


def _store_problem(loaded: Loaded) -> str | None:
    if loaded.settings.store.url is None:
        return None
    return (
        "store.url: several processes on PostgreSQL are not available in this version; "
        "leave store.url out to use the database in the home"
    )


def open_store(home: Home, loaded: Loaded) -> Store:
    """Open the home's database and bring it to this version's schema.

    Raises ``StoreError``, or ``ConfigurationError`` for a setting this version cannot serve.
    """
    if problem := _store_problem(loaded):
        raise ConfigurationError(problem)
    make_private_folder(home.gateway)
    store = SqliteStore(home.database)
    migrate.upgrade(store.engine)
    return store


def stand_in(loaded: Loaded) -> str:
    """Return the system user's name where the console's person has no configured one."""
    if loaded.honcho.peer_name is not None:
        return ""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return ""


def console_place(rules: Rules) -> PlaceId:
    """Return the console's conversation: one for each session that the strategy names."""
    return PlaceId(console_session(rules.outside))
