"""Keys of a Hermes Agent config.yaml, moved to where this gateway keeps the same thing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gateway.settings.hermes_names import NOT_USED, NOT_USED_IN
from gateway.settings.nodes import Node, Scalar, Style, Table
from gateway.settings.scalars import RefusedError, boolean

if TYPE_CHECKING:
    from gateway.settings.findings import Findings

Path = tuple[str, ...]

#: same meaning, other place
_MOVED: dict[Path, Path] = {
    ("model", "default"): ("model", "name"),
    ("session_reset", "mode"): ("conversations", "reset", "mode"),
    ("session_reset", "at_hour"): ("conversations", "reset", "at_hour"),
    ("session_reset", "idle_minutes"): ("conversations", "reset", "idle_minutes"),
    ("streaming", "enabled"): ("conversations", "streaming"),
    ("display", "busy_input_mode"): ("conversations", "overlap"),
}
#: a switch there, a choice here: the words for true and false
_SWITCHED: dict[Path, tuple[Path, str, str]] = {
    ("group_sessions_per_user",): (("conversations", "group_sessions"), "per-user", "shared"),
    ("thread_sessions_per_user",): (("conversations", "thread_sessions"), "per-user", "shared"),
}
#: secrets that stand in config.yaml there
_SECRET_IN: dict[Path, str] = {
    ("platforms", "telegram", "token"): "TELEGRAM_BOT_TOKEN",
    ("platforms", "discord", "token"): "DISCORD_BOT_TOKEN",
    ("platforms", "slack", "token"): "SLACK_BOT_TOKEN",
}
_KEY_OF_PROVIDER = {
    "anthropic": "ANTHROPIC_API_KEY",
    "google": "GOOGLE_API_KEY",
    "gemini": "GOOGLE_API_KEY",
}
_EXTRA = ("base_url", "base_file_url")


#: an empty text there means what another word, or no key at all, means here
_EMPTY: dict[Path, str | None] = {
    ("memory", "provider"): "builtin",
    ("model", "base_url"): None,
    ("timezone",): None,
}


def translate(root: Table, findings: Findings) -> dict[str, Scalar]:
    """Move the known keys of ``root``, drop those without meaning; return secrets found.

    A key of our own that stands in the file too wins over its Hermes twin.
    """
    secrets = _take_secrets(root)
    _fill_empty(root)
    _take_extras(root)
    for old, new in _MOVED.items():
        _move(root, old, new)
    for old, (new, true, false) in _SWITCHED.items():
        _move_switch(root, old, new, true, false, findings=findings)
    _move_pairing(root)
    _drop_unused(root, findings)
    return secrets


def _move(root: Table, old: Path, new: Path, node: Node | None = None) -> None:
    entry = root.take(*old)
    if entry is not None and root.get(*new) is None:
        root.put(node or entry.value, *new)


def _move_switch(
    root: Table, old: Path, new: Path, true: str, false: str, *, findings: Findings
) -> None:
    node = root.get(*old)
    if node is None:
        return
    try:
        if not isinstance(node, Scalar):
            raise RefusedError("a switch", "write true or false")
        word = true if boolean(node) else false
    except RefusedError as refused:
        root.take(*old)
        findings.fault(node.source, old, f"the value {refused.problem}")
        return
    _move(root, old, new, Scalar(word, Style.QUOTED, node.source))


def _move_pairing(root: Table) -> None:
    """``unauthorized_dm_behavior: pair | ignore`` is the switch ``access.pairing``."""
    node = root.get("unauthorized_dm_behavior")
    if isinstance(node, Scalar):
        word = {"pair": "true", "ignore": "false"}.get(node.text, node.text)
        moved = replace(node, text=word)
        _move(root, ("unauthorized_dm_behavior",), ("access", "pairing"), moved)
    elif node is not None:
        _move(root, ("unauthorized_dm_behavior",), ("access", "pairing"))


def _take_secrets(root: Table) -> dict[str, Scalar]:
    provider = root.get("model", "provider")
    name = provider.text if isinstance(provider, Scalar) else ""
    places = _SECRET_IN | {("model", "api_key"): _KEY_OF_PROVIDER.get(name, "OPENAI_API_KEY")}
    secrets = {}
    for path, variable in places.items():
        node = root.get(*path)
        if isinstance(node, Scalar):
            root.take(*path)
            secrets[variable] = node
    return secrets


def _fill_empty(root: Table) -> None:
    for path, word in _EMPTY.items():
        node = root.get(*path)
        if isinstance(node, Scalar) and node.style is Style.QUOTED and not node.text:
            root.take(*path)
            if word is not None:
                root.put(replace(node, text=word), *path)


def _take_extras(root: Table) -> None:
    """``platforms.<p>.extra`` holds addresses that stand one level higher here."""
    platforms = root.get("platforms")
    if not isinstance(platforms, Table):
        return
    for platform in tuple(platforms.entries):
        for key in _EXTRA:
            _move(root, ("platforms", platform, "extra", key), ("platforms", platform, key))
        extra = root.get("platforms", platform, "extra")
        if isinstance(extra, Table) and not extra.entries:
            root.take("platforms", platform, "extra")


def _drop_unused(root: Table, findings: Findings) -> None:
    for name in sorted(NOT_USED & root.entries.keys()):
        entry = root.entries.pop(name)
        if not isinstance(entry.value, Table) or entry.value.entries:
            findings.not_used(entry.key.source, (name,))
    for section, names in NOT_USED_IN.items():
        table = root.get(section)
        if not isinstance(table, Table):
            continue
        for name in sorted(names & table.entries.keys()):
            findings.not_used(table.entries.pop(name).key.source, (section, name))
