"""What an installation of OpenClaw with openclaw-honcho holds: looked at, never changed."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gateway.settings import files
from gateway.text import json5

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PLUGIN = "openclaw-honcho"
#: folders below the user's own where an installation has stood over the years
FOLDERS = (".openclaw", ".moltbot", ".clawdbot")
#: what the plugin calls things unless it is told otherwise
WORKSPACE, OWNER, AGENT = "openclaw", "owner", "main"
_LARGEST = 5 * 1024 * 1024
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(frozen=True, slots=True)
class Written:
    """One file of the agent's workspace, by its path within."""

    name: str
    path: Path
    text: str
    #: the plugin has uploaded this very content
    uploaded: bool = False


@dataclass(frozen=True, slots=True)
class OpenClaw:
    """One installation. Settings are () where they could not be read, ``problems`` say why."""

    folder: Path
    workspace: Path
    agent: str = AGENT
    #: the plugin's own settings
    settings: Mapping[str, Any] = field(default_factory=dict)
    #: sender → peer
    peers: Mapping[str, str] = field(default_factory=dict)
    #: everybody unknown was the owner
    strangers_are_owner: bool = False
    files: tuple[Written, ...] = ()
    #: platforms whose bot stands in its settings
    bots: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def find(user: Path, environ: Mapping[str, str], given: Path | None = None) -> OpenClaw | None:
    """Return the installation in ``given``, or in the first of the usual places; None: none."""
    named = environ.get("OPENCLAW_STATE_DIR", "").strip()
    places = [given] if given else [Path(named)] if named else [user / name for name in FOLDERS]
    folder = next((one.expanduser() for one in places if one.expanduser().is_dir()), None)
    return None if folder is None else _look(folder, user, environ)


def _look(folder: Path, user: Path, environ: Mapping[str, str]) -> OpenClaw:
    problems: list[str] = []
    config = _object(folder / "openclaw.json", problems)
    peers_file = Path(environ.get("OPENCLAW_HONCHO_PEERS_FILE", "").strip() or _peers_file(user))
    peers = _object(peers_file, problems)
    workspace = _workspace(folder, config)
    manifest = _text(folder / ".upload-manifest.json", []) or ""
    return OpenClaw(
        folder=folder,
        workspace=workspace,
        agent=_agent(config).get("id") or AGENT,
        settings=_settings(config, environ, problems),
        peers={name: peer for name, peer in _at(peers, "peers").items() if isinstance(peer, str)},
        strangers_are_owner=bool(peers) and peers.get("defaultUnknownPolicy") != "per-sender",
        files=tuple(_files(workspace, manifest, problems)),
        bots=tuple(_bots(_at(config, "channels"))),
        problems=tuple(problems),
    )


def _peers_file(user: Path) -> Path:
    return user / ".honcho" / "openclaw-peers.json"


def _text(path: Path, problems: list[str]) -> str | None:
    try:
        content = files.load(path)
    except files.UnreadableError as error:
        problems.append(f"{path}: {error.problem}")
        return None
    return None if content is None else content.text


def _object(path: Path, problems: list[str]) -> dict[str, Any]:
    text = _text(path, problems)
    if text is None:
        return {}
    try:
        found = json5.loads(text)
    except ValueError:
        problems.append(f"{path}: cannot be read as JSON, so nothing is taken from it")
        return {}
    return found if isinstance(found, dict) else {}


def _at(table: Any, *path: str) -> dict[str, Any]:
    """Return the object at a path, {} where there is none."""
    for name in path:
        table = table.get(name) if isinstance(table, dict) else None
    return table if isinstance(table, dict) else {}


def _agent(config: dict[str, Any]) -> dict[str, Any]:
    """Return the entry of the default agent."""
    listed = _at(config, "agents").get("list")
    agents = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    marked = [one for one in agents if one.get("default") is True]
    return next(iter([*marked, *agents]), {})


def _workspace(folder: Path, config: dict[str, Any]) -> Path:
    """Return where the default agent's files are."""
    named = (
        _agent(config).get("workspace")
        or _at(config, "agents", "defaults").get("workspace")
        or _at(config, "agent").get("workspace")
    )
    return Path(named).expanduser() if isinstance(named, str) else folder / "workspace"


def _settings(
    config: dict[str, Any], environ: Mapping[str, str], problems: list[str]
) -> dict[str, Any]:
    entry = _at(config, "plugins", "entries", PLUGIN, "config")
    found = {}
    for name, value in entry.items():
        missing = [one for one in _VARIABLE.findall(str(value)) if one not in environ]
        if missing:
            problems.append(f"{name} is ${{{missing[0]}}}, which is not set here")
        else:
            found[name] = _filled(value, environ)
    return found


def _filled(value: Any, environ: Mapping[str, str]) -> Any:
    if not isinstance(value, str):
        return value
    return _VARIABLE.sub(lambda found: environ[found[1]], value)


def _bots(channels: dict[str, Any]) -> Iterator[str]:
    for name in ("telegram", "discord", "slack"):
        if channels.get(name):
            yield name


def _files(workspace: Path, manifest: str, problems: list[str]) -> Iterator[Written]:
    for path in sorted(_paths(workspace)):
        if path.stat().st_size > _LARGEST:
            problems.append(f"{path}: larger than 5 MB, left alone")
            continue
        text = _text(path, problems)
        if text and text.strip():
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            yield Written(str(path.relative_to(workspace)), path, text, digest in manifest)


def _paths(workspace: Path) -> Iterator[Path]:
    """Yield what the plugin itself would take: notes at the top, and two folders of them."""
    try:
        yield from (path for path in workspace.glob("*.md") if path.is_file())
        for folder in ("memory", "canvas"):
            found = (workspace / folder).rglob("*")
            yield from (one for one in found if one.suffix in {".md", ".json"} and one.is_file())
    except OSError:
        return


def same_text(path: Path, text: str) -> bool:
    """Tell whether a file of ours says what one of theirs says."""
    try:
        content = files.load(path)
    except files.UnreadableError:
        return False
    return content is not None and content.text.strip() == text.strip()


def shown(settings: Mapping[str, Any]) -> str:
    """Return the plugin's settings for people, without the key."""
    told = {name: "(hidden)" if "key" in name.lower() else each for name, each in settings.items()}
    return json.dumps(told, ensure_ascii=False)
