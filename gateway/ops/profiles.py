"""The profiles beside a home: what one carries over to the others, and making a new one."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gateway.model.errors import ConfigurationError, StoreError
from gateway.policy import carry
from gateway.policy.carry import Fate, Side, Step
from gateway.settings import files
from gateway.settings.findings import is_secret_key
from gateway.settings.home import make_private_folder
from gateway.settings.honcho_schema import HonchoSettings
from gateway.settings.replace import rewrite
from gateway.settings.rewrite import REMOVE, edit
from gateway.settings.said import read_said, settled
from gateway.settings.schema import WebSettings
from gateway.store import ledger, readonly

if TYPE_CHECKING:
    from collections.abc import Callable

    from gateway.policy.carry import Said
    from gateway.settings.home import Home
    from gateway.settings.read import Loaded

#: what a copy of a profile takes with it
CLONED = ("config.yaml", "SOUL.md", "IDENTITY.md", "AGENTS.md")
#: secrets of the model and of memory: one bot cannot be received by two gateways
CLONED_SECRETS = frozenset(
    {
        *("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "HONCHO_API_KEY"),
        *("EMBEDDINGS_API_KEY", "TRANSCRIBE_API_KEY", "HONCHO_BASE_URL", "HONCHO_WORKSPACE_ID"),
    }
)
#: keys of config.yaml that are one profile's: its name, and the bots that it receives
NOT_CLONED = (
    ("profile",),
    *(("platforms", name, "token") for name in ("telegram", "discord", "slack")),
)
#: secrets that one gateway alone can use
BOTS = ("TELEGRAM_BOT_TOKEN", "DISCORD_BOT_TOKEN", "SLACK_BOT_TOKEN")
HIDDEN = "(hidden)"


@dataclass(frozen=True, slots=True)
class Carrying:
    """What is to become of one profile's settings."""

    home: Home
    #: None where its settings are wrong, and ``problem`` says how
    loaded: Loaded | None
    steps: tuple[Step, ...]
    problem: str = ""
    #: the name of its block in the file
    block: str = ""

    @property
    def changes(self) -> dict[tuple[str, ...], Any]:
        """Return what ``change_memory`` is to write."""
        return {(step.key,): step.after for step in self.steps if step.fate is Fate.WRITTEN}


def plan_sync(source: Loaded, home: Home, load: Callable[[Home], Loaded]) -> list[Carrying]:
    """Return for every other profile what ``source``, the settings of ``home``, carry to it."""
    others = [one for one in home.neighbours() if one.profile != home.profile]
    if source.hosts == (source.honcho.host,) and source.honcho.host != "hermes":
        raise ConfigurationError(
            f"HERMES_HONCHO_HOST names one block, {source.honcho.host}, for every profile: unset "
            "it to carry settings from one to the others"
        )
    return [_plan(source, one, load) for one in others]


def _plan(source: Loaded, home: Home, load: Callable[[Home], Loaded]) -> Carrying:
    try:
        target = load(home)
        said = _said(target)
    except ConfigurationError as error:
        return Carrying(home, None, (), error.problems[0])
    steps = carry.plan(
        Side(_said(source), source.honcho.host),
        Side(said, target.honcho.host, used=has_memory(home)),
        _defaults(),
        one_file=target.honcho_file.resolve() == source.honcho_file.resolve(),
    )
    return Carrying(home, target, tuple(steps), block=said.block or target.honcho.host)


def _said(loaded: Loaded) -> Said:
    return settled(read_said(loaded.honcho_file, loaded.hosts), loaded.honcho)


def has_memory(home: Home) -> bool:
    """Tell whether anything was said in a home that went to memory, or should have."""
    if not home.database.exists():
        return False
    try:
        with readonly.look(home.database) as conn:
            return bool(ledger.counts(conn))
    except StoreError:
        return True


def _defaults() -> dict[str, Any]:
    values = HonchoSettings().model_dump(mode="json", by_alias=True)
    del values["host"]
    return values


def clashes(home: Home, load: Callable[[Home], Loaded]) -> list[str]:
    """Return what this profile and another cannot have both: a bot, a port."""
    own = _claims(home, load)
    return [
        f"{what} is {other.profile}'s too: {remedy}"
        for other in home.neighbours()
        if other.profile != home.profile
        for (what, value), remedy in _claims(other, load).items()
        if (what, value) in own
    ]


def _claims(home: Home, load: Callable[[Home], Loaded]) -> dict[tuple[str, str], str]:
    """Return what a profile's gateway takes for itself alone, with what to do about a clash."""
    try:
        loaded = load(home)
    except ConfigurationError:
        return {}
    found = {
        (name, token): "one bot is received by one gateway; give one of them a bot of its own"
        for name in BOTS
        for token in loaded.secrets.tokens(name)
    }
    for key, port in _ports(loaded).items():
        found[f"port {port}", str(port)] = f"set {key} of one of them to another number"
    return found


def _ports(loaded: Loaded) -> dict[str, int]:
    settings = loaded.settings
    found = {"web.port": settings.web.port} if settings.web.enabled else {}
    for name, mode, section in (("telegram", "webhook", "webhook"), ("slack", "http", "http")):
        platform = settings.platforms.get(name)
        if getattr(platform, "mode", "") == mode:
            found[f"platforms.{name}.{section}.port"] = getattr(platform, section).port
    return found


def free_port(home: Home, load: Callable[[Home], Loaded]) -> int:
    """Return a port for the page of one more profile: none of those that the others have."""
    taken = {value for one in home.neighbours() for _, value in _claims(one, load)}
    return next(port for port in itertools.count(WebSettings().port) if str(port) not in taken)


def shown(step: Step, value: Any) -> Any:
    """Return a value as it may be printed."""
    secret = is_secret_key(step.key) or (isinstance(value, str) and "@" in value)
    return HIDDEN if secret and value is not None else value


def create(home: Home, name: str, *, clone: bool, port: int) -> list[str]:
    """Make a profile's folder beside ``home``; return what was put into it.

    ``port`` is where its page will be.

    ``clone``: with copies of what makes the agent what it is, without anybody's memory and
    without the bots' tokens. Raises ``ConfigurationError`` for a name that is taken.
    """
    made = home.of(name)
    if made.path.exists():
        raise ConfigurationError(f"there is something at {made.path} already; give another name")
    make_private_folder(made.path)
    copied = [*_copied(home, made), *_secrets(home, made)] if clone else []
    edit(made.config, files.digest(made.config), {("web", "port"): port})
    return copied


def _copied(home: Home, made: Home) -> list[str]:
    found = []
    for name in CLONED:
        content = files.load(home.path / name)
        if content is not None:
            _write(made, name, content.text)
            found.append(name)
    if made.config.name in found:
        edit(made.config, files.digest(made.config), dict.fromkeys(NOT_CLONED, REMOVE))
    return found


def _secrets(home: Home, made: Home) -> list[str]:
    content = files.load(home.env)
    lines = content.text.splitlines(keepends=True) if content else []
    kept = [line for line in lines if _variable(line) in CLONED_SECRETS]
    if not kept:
        return []
    _write(made, made.env.name, "".join(kept))
    return [f"{made.env.name} ({', '.join(map(_variable, kept))})"]


def _variable(line: str) -> str:
    return line.strip().removeprefix("export ").partition("=")[0].strip()


def _write(made: Home, name: str, text: str) -> None:
    rewrite(made.path / name, files.MISSING, lambda _: text)
