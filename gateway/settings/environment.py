"""Variables of the environment and of .env: secrets, and Hermes' names for settings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gateway.settings.accounts import check_id
from gateway.settings.credentials import NAMES, Secrets
from gateway.settings.nodes import Items, Node, Scalar, Source, Style, Table
from gateway.settings.scalars import RefusedError, boolean

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from gateway.settings.findings import Findings

Path = tuple[str, ...]

#: lists of ids that are added to the file's own
_LISTS: dict[str, tuple[Path, ...]] = {
    "TELEGRAM_ALLOWED_USERS": (("access", "allow", "telegram"),),
    "DISCORD_ALLOWED_USERS": (("access", "allow", "discord"),),
    "SLACK_ALLOWED_USERS": (("access", "allow", "slack"),),
    "DISCORD_ALLOWED_ROLES": (("access", "roles", "discord"),),
    "TELEGRAM_ALLOWED_CHATS": (("access", "places", "telegram"),),
    "DISCORD_ALLOWED_CHANNELS": (("access", "places", "discord"),),
    "SLACK_ALLOWED_CHANNELS": (("access", "places", "slack"),),
    "TELEGRAM_GROUP_ALLOWED_CHATS": (
        ("access", "places", "telegram"),
        ("access", "open_places", "telegram"),
    ),
}
#: places that need no mention: the platform is put before each
_FREE_RESPONSE = {
    "TELEGRAM_FREE_RESPONSE_CHATS": "telegram",
    "DISCORD_FREE_RESPONSE_CHANNELS": "discord",
    "SLACK_FREE_RESPONSE_CHANNELS": "slack",
}
#: settings that the file's own key beats
_SINGLE: dict[str, Path] = {
    "TELEGRAM_ALLOW_ALL_USERS": ("access", "allow_all", "telegram"),
    "DISCORD_ALLOW_ALL_USERS": ("access", "allow_all", "discord"),
    "SLACK_ALLOW_ALL_USERS": ("access", "allow_all", "slack"),
    "TELEGRAM_REACTIONS": ("conversations", "reactions"),
    "TELEGRAM_WEBHOOK_URL": ("platforms", "telegram", "webhook", "url"),
    "TELEGRAM_WEBHOOK_PORT": ("platforms", "telegram", "webhook", "port"),
    "TELEGRAM_WEBHOOK_SECRET": ("platforms", "telegram", "webhook", "secret"),
}
#: one setting here, one for each platform there: the careful value wins, the first listed
_REQUIRE_MENTION = tuple(f"{name}_REQUIRE_MENTION" for name in ("TELEGRAM", "DISCORD", "SLACK"))
_ALLOW_BOTS = tuple(f"{name}_ALLOW_BOTS" for name in ("TELEGRAM", "DISCORD", "SLACK"))
_CAREFUL_BOTS = ("ignore", "none", "false", "mentions", "all", "true")
#: read by Hermes, without a counterpart; the remedy where the difference touches access
_NOT_USED = {
    "TELEGRAM_PROXY": "",
    "TELEGRAM_GROUP_ALLOWED_USERS": "people allowed in groups are those of access.allow.telegram",
    "DISCORD_IGNORED_CHANNELS": "only the channels in access.places.discord are served",
}
#: the memory service's settings that may stand in the environment
HONCHO = {
    "HONCHO_API_KEY": "apiKey",
    "HONCHO_BASE_URL": "baseUrl",
    "HONCHO_ENVIRONMENT": "environment",
    "HONCHO_TIMEOUT": "timeout",
    "HONCHO_WORKSPACE_ID": "workspace",
}


@dataclass(frozen=True, slots=True)
class Variables:
    """All variables with their places; the process's own beat those of .env."""

    values: Mapping[str, Scalar]

    @classmethod
    def merge(cls, environ: Mapping[str, str], dotenv: Mapping[str, Scalar]) -> Variables:
        own = {
            name: Scalar(value, Style.VARIABLE, Source(None, variable=name))
            for name, value in environ.items()
        }
        return cls({**dotenv, **own})

    def get(self, name: str) -> Scalar | None:
        """Return a variable that holds more than white space."""
        scalar = self.values.get(name)
        return scalar if scalar is not None and scalar.text.strip() else None

    def text(self, name: str) -> str:
        """Return a variable's text, trimmed; "" if it is not set."""
        scalar = self.get(name)
        return scalar.text.strip() if scalar else ""


def read_secrets(
    variables: Variables, in_file: Mapping[str, Scalar], findings: Findings
) -> Secrets:
    """Return the secrets by name; the environment beats what stands in config.yaml."""
    values = {}
    for name in NAMES:
        scalar = variables.get(name) or in_file.get(name)
        if scalar is None or scalar.null:
            continue
        text = scalar.text.strip()
        if any(not piece.isprintable() or " " in piece for piece in _split(text)):
            findings.fault(scalar.source, (name,), "blanks or odd characters inside; copy it anew")
        values[name] = text
    return Secrets(values)


def overlay(
    root: Table, variables: Variables, platforms: Collection[str], findings: Findings
) -> None:
    """Add to config.yaml's tree what the environment says."""
    for name, paths in _LISTS.items():
        if scalar := variables.get(name):
            for path in paths:
                _extend(root, path, _pieces(scalar))
    for name, platform in _FREE_RESPONSE.items():
        if scalar := variables.get(name):
            named = (replace(one, text=f"{platform}:{one.text}") for one in _pieces(scalar))
            _extend(root, ("conversations", "free_response"), tuple(named))
    for name, path in _SINGLE.items():
        if (scalar := variables.get(name)) and (path[0] != "platforms" or path[1] in platforms):
            _set_default(root, path, scalar)
    _webhook_mode(root)
    _for_everybody(root, variables, platforms, findings)
    _careful(root, variables, findings)
    _name_unused(variables, findings)


def _pieces(scalar: Scalar) -> tuple[Scalar, ...]:
    """Split at commas and line ends; empty pieces are dropped."""
    return tuple(replace(scalar, text=part) for part in _split(scalar.text.replace("\n", ",")))


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _extend(root: Table, path: Path, more: Iterable[Scalar]) -> None:
    node = root.get(*path)
    own: tuple[Node, ...] = ()
    if isinstance(node, Items):
        own = node.items
    elif isinstance(node, Scalar) and not node.absent:
        own = (node,)
    elif isinstance(node, Table):
        return
    items = (*own, *more)
    if items:
        root.put(Items(items, items[0].source), *path)


def _set_default(root: Table, path: Path, value: Scalar) -> None:
    if root.get(*path) is None:
        root.put(value, *path)


def _webhook_mode(root: Table) -> None:
    """A webhook address in the environment means webhook mode, as it does for Hermes."""
    url = root.get("platforms", "telegram", "webhook", "url")
    if isinstance(url, Scalar) and url.source.variable == "TELEGRAM_WEBHOOK_URL":
        mode = Scalar("webhook", Style.VARIABLE, url.source)
        _set_default(root, ("platforms", "telegram", "mode"), mode)


def _for_everybody(
    root: Table, variables: Variables, platforms: Collection[str], findings: Findings
) -> None:
    """``GATEWAY_…``: every platform; an id goes where it can be one."""
    if scalar := variables.get("GATEWAY_ALLOW_ALL_USERS"):
        for platform in platforms:
            _set_default(root, ("access", "allow_all", platform), scalar)
    scalar = variables.get("GATEWAY_ALLOWED_USERS")
    for piece in _pieces(scalar) if scalar else ():
        fitting = [platform for platform in platforms if _fits(piece.text, platform)]
        for platform in fitting:
            _extend(root, ("access", "allow", platform), (piece,))
        if not fitting:
            remedy = "to admit every account set access.allow_all for its platform"
            findings.fault(piece.source, (), f"{piece.text[:60]!r} is not an account id; {remedy}")


def _fits(ident: str, platform: str) -> bool:
    try:
        check_id(ident, platform)
    except RefusedError:
        return False
    return True


def _careful(root: Table, variables: Variables, findings: Findings) -> None:
    mentions = [scalar for name in _REQUIRE_MENTION if (scalar := variables.get(name))]
    bots = [scalar for name in _ALLOW_BOTS if (scalar := variables.get(name))]
    mentions.sort(key=_lax_mention)
    bots.sort(key=_lax_bots)
    for path, given in (
        (("conversations", "require_mention"), mentions),
        (("access", "bots"), bots),
    ):
        if given and root.get(*path) is None:
            root.put(given[0], *path)
            if len({scalar.text.strip().lower() for scalar in given}) > 1:
                others = ", ".join(scalar.source.variable for scalar in given[1:])
                findings.warn(given[0].source, (), f"holds for all platforms, also for {others}")


def _lax_mention(scalar: Scalar) -> int:
    try:
        return 0 if boolean(scalar) else 1
    except RefusedError:
        return -1


def _lax_bots(scalar: Scalar) -> int:
    word = scalar.text.strip()
    return _CAREFUL_BOTS.index(word) if word in _CAREFUL_BOTS else -1


def _name_unused(variables: Variables, findings: Findings) -> None:
    for name, remedy in _NOT_USED.items():
        if scalar := variables.get(name):
            findings.not_used(scalar.source, (name,))
            if remedy:
                findings.warn(scalar.source, (name,), f"not used here; {remedy}")
