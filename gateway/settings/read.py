"""Read everything that configures one gateway, strictly, and say all that is wrong at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gateway.model.errors import ConfigurationError
from gateway.settings import checks, files
from gateway.settings.config import build_settings, known_platforms
from gateway.settings.dotenv import parse_dotenv
from gateway.settings.environment import Variables, overlay, read_secrets
from gateway.settings.findings import Findings, shown
from gateway.settings.hermes import translate
from gateway.settings.home import DEFAULT_PROFILE
from gateway.settings.honcho import Memory, host_names, read_memory
from gateway.settings.json_nodes import parse_json
from gateway.settings.nodes import Node, Scalar, Source, Table
from gateway.settings.schema import ConsoleSettings, HonchoSettings, Settings
from gateway.settings.yaml_nodes import parse_yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from pathlib import Path

    from pydantic import BaseModel

    from gateway.settings.credentials import Secrets
    from gateway.settings.home import Home


@dataclass(frozen=True, slots=True)
class Loaded:
    """A valid configuration and where it came from."""

    settings: Settings
    honcho: HonchoSettings
    secrets: Secrets
    #: for the operator, one line each, without secrets
    warnings: tuple[str, ...]
    #: keys that another product reads and this one does not
    unused: tuple[str, ...]
    #: the files that were read
    files: tuple[Path, ...]
    #: the place of each alias entry, by its clean key
    sources: Mapping[str, Source]
    #: the place of each other key of the memory settings, by its present spelling
    key_sources: Mapping[str, Source]
    #: the memory settings' file: read from, and written to
    honcho_file: Path
    #: the names of this host's block in it, the present one first
    hosts: tuple[str, ...]
    #: what ``rewrite.edit`` wants to know of each file, also of a missing one
    digests: Mapping[Path, str]


def needs_service_problem(loaded: Loaded) -> str | None:
    """Return why a command that needs the memory service cannot work, with the remedy."""
    honcho = loaded.honcho
    if loaded.settings.memory.provider != "honcho" or honcho.enabled is False:
        return None
    if honcho.api_key or honcho.base_url:
        return None
    return (
        "memory.provider is honcho, but there is neither a key nor an address: set HONCHO_API_KEY "
        f"in .env, or baseUrl in {loaded.honcho_file}, or write memory.provider: builtin"
    )


def read(
    home: Home,
    *,
    profile: str | None = None,
    environ: Mapping[str, str],
    platform_models: Mapping[str, type[BaseModel]],
    instead: Mapping[Path, str] | None = None,
) -> Loaded:
    """Read config.yaml, honcho.json and .env of ``home``; missing files mean defaults.

    ``platform_models`` are the models of ``platforms.<name>``; ``instead`` are texts to judge in
    place of what files hold. Raises ``ConfigurationError`` with one line for each fault: nothing
    is ever guessed or replaced by a default.
    """
    models: dict[str, type[BaseModel]] = {"console": ConsoleSettings, **platform_models}
    return _Reading(home, environ, models, instead or {}).run(profile)


@dataclass(slots=True)
class _Reading:
    """One pass over the files."""

    home: Home
    environ: Mapping[str, str]
    models: Mapping[str, type[BaseModel]]
    instead: Mapping[Path, str]
    findings: Findings = field(init=False)
    #: looked up once: another file may appear meanwhile
    honcho_file: Path = field(init=False)
    hosts: tuple[str, ...] = ()
    digests: dict[Path, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.findings = Findings(self.home.path)
        self.honcho_file = self.home.honcho

    def run(self, profile: str | None) -> Loaded:
        variables = self._variables()
        config = self._table(self.home.config, parse_yaml)
        secrets = read_secrets(variables, translate(config, self.findings), self.findings)
        platforms = known_platforms(self.models)
        overlay(config, variables, platforms, self.findings)
        settings = build_settings(config, self.models, self.findings)
        profile = profile or _own_profile(config) or self.home.profile
        memory = self._memory(profile, variables, platforms)
        if settings is None or memory.settings is None or self.findings.faults:
            raise ConfigurationError(*self.findings.faults)
        settings = settings.model_copy(update={"profile": profile})
        settings = self._choose_provider(settings, config, memory)
        self._check(settings, memory, config)
        return Loaded(
            settings=settings,
            honcho=memory.settings,
            secrets=secrets,
            warnings=tuple(self.findings.warnings),
            unused=tuple(self.findings.unused),
            files=tuple(path for path, digest in self.digests.items() if digest),
            sources=memory.aliases.sources,
            key_sources=memory.keys,
            honcho_file=self.honcho_file,
            hosts=self.hosts,
            digests=self.digests,
        )

    def _check(self, settings: Settings, memory: Memory, config: Table) -> None:
        role = config.entries.get("role")
        places = checks.Places(
            role=role.value.source if role else Source(self.home.config),
            honcho=Source(self.honcho_file),
            keys=memory.keys,
            aliases=memory.aliases.sources,
        )
        checks.check_effect(settings, config, self.findings)
        checks.check_exposure(settings, config, self.findings)
        if memory.settings is not None:
            checks.check(settings, memory.settings, places, self.findings)
        if self.findings.faults:
            raise ConfigurationError(*self.findings.faults)

    def _variables(self) -> Variables:
        content = self._content(self.home.env)
        dotenv = parse_dotenv(content, self.home.env, self.findings) if content else {}
        return Variables.merge(self.environ, dotenv)

    def _memory(self, profile: str, variables: Variables, platforms: Collection[str]) -> Memory:
        self.hosts = host_names(profile, variables.text("HERMES_HONCHO_HOST"))
        root = self._table(self.honcho_file, parse_json)
        return read_memory(root, self.hosts, variables, platforms, findings=self.findings)

    def _content(self, path: Path) -> str:
        """Return a file's text, "" for a missing file and for one that cannot be read."""
        if path in self.instead:
            self.digests[path] = files.hash_bytes(self.instead[path].encode())
            return self.instead[path]
        try:
            content = files.load(path)
        except files.UnreadableError as error:
            self.findings.fault(Source(path, error.line), (), error.problem)
            self.digests[path] = files.MISSING
            return ""
        self.digests[path] = content.digest if content else files.MISSING
        return content.text if content else ""

    def _table(self, path: Path, parse: Callable[[str, Path], Node | None]) -> Table:
        """Return a file's top level; a fault and an empty table for anything but a mapping."""
        text = self._content(path)
        empty = Table(Source(path))
        if not self.digests[path]:
            return empty
        try:
            node = parse(text, path)
        except files.UnreadableError as error:
            self.findings.fault(Source(path, error.line), (), error.problem)
            return empty
        if node is None or isinstance(node, Table):
            return node or empty
        problem = f"{shown(node)} at the top level; write key: value pairs"
        self.findings.fault(node.source, (), problem)
        return empty

    def _choose_provider(self, settings: Settings, config: Table, memory: Memory) -> Settings:
        """A configured service is used unless the provider line says otherwise."""
        honcho = memory.settings
        chosen = config.get("memory", "provider") is not None
        if chosen or not memory.configured or honcho is None or not honcho.active:
            return settings
        self.findings.warn(
            Source(self.honcho_file),
            (),
            "names a memory service, so memory.provider is honcho; to use the built-in memory "
            "write memory.provider: builtin in config.yaml",
        )
        provider = settings.memory.model_copy(update={"provider": "honcho"})
        return settings.model_copy(update={"memory": provider})


def _own_profile(config: Table) -> str:
    """Return the name that config.yaml gives. ``default``, as in every copy, is none: a
    profile's folder says whose it is.
    """
    node = config.get("profile")
    name = node.text.strip() if isinstance(node, Scalar) else ""
    return "" if name == DEFAULT_PROFILE else name
