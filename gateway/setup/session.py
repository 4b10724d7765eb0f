"""One run of the wizard: the home, what was answered so far, and how it would be read then."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gateway.model.ids import PlatformName, ScopeId, UserId
from gateway.policy.runtime_id import RuntimeId
from gateway.settings.json_nodes import parse_json
from gateway.settings.nodes import Source, Table
from gateway.settings.yaml_nodes import parse_yaml
from gateway.setup.drafts import Draft, Edit, Originals
from gateway.setup.mending import mend
from gateway.setup.seen import Person, people

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from gateway.pipeline.rules import Rules
    from gateway.ports import Manifest
    from gateway.settings.home import Home
    from gateway.settings.read import Loaded
    from gateway.setup.asking import Asker


@dataclass(frozen=True, slots=True)
class Bench:
    """What the wizard works on and with; the composition root's parts come as functions."""

    home: Home
    manifests: Sequence[Manifest]
    environ: Mapping[str, str]
    #: reads the configuration, with texts in place of files
    load: Callable[[Mapping[Path, str]], Loaded]
    rules_of: Callable[[Loaded], Rules]
    enabled: Callable[[Manifest, Loaded], bool]
    stand_in: Callable[[Loaded], str]


@dataclass(slots=True)
class Session:
    """Asks and collects. Nothing is written before the very end, and then by ``drafts.save``."""

    bench: Bench
    asker: Asker
    before: Loaded
    originals: Originals
    seen: tuple[Person, ...]
    #: ask platforms and servers whether they take what was typed
    checking: bool = True
    draft: Draft = field(default_factory=Draft)
    #: the configuration as it would be read with the answers so far
    now: Loaded = field(init=False)
    #: name of the local model to fetch once everything is saved
    install: str = ""
    #: let the memory of those who move follow, once everything is saved
    follow: bool = False
    #: what was asked of platforms and servers, and what they said
    checks: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.now = self.before

    @classmethod
    def begin(cls, bench: Bench, asker: Asker) -> Session:
        """Read the home, and mend its files where they have faults and that is wished for.

        Raises ``ConfigurationError`` for one that cannot be read.
        """
        mended = mend(bench.home, bench.load, asker)
        known = bench.load({path: one.text for path, one in mended.items()})
        originals = Originals.read(bench.home, known.honcho_file, known.hosts, mended)
        before = bench.load(originals.texts)
        return cls(bench, asker, before, originals, people(bench.home.database))

    @property
    def platforms(self) -> list[Manifest]:
        """The platforms whose people have accounts."""
        return [one for one in self.bench.manifests if one.capabilities.has_users]

    @property
    def connected(self) -> list[Manifest]:
        """Those of them that are switched on, with the answers so far."""
        return [one for one in self.platforms if self.bench.enabled(one, self.now)]

    def apply(self, draft: Draft) -> None:
        """Take over changes. Raises ``ConfigurationError`` where they would not be accepted."""
        whole = Draft()
        whole.add(self.draft)
        whole.add(draft)
        edits = self.originals.edits(whole)
        self.now = self.bench.load(self.originals.texts | {one.path: one.after for one in edits})
        self.draft = whole

    def edits(self) -> list[Edit]:
        """Return what is to be written."""
        return self.originals.edits(self.draft)

    def honcho_tree(self) -> Table:
        """Return honcho.json as it would be with the answers so far."""
        path = self.originals.honcho_file
        return _table(parse_json(self._text(path) or "{}", path), path)

    def config_tree(self) -> Table:
        """Return config.yaml as it would be with the answers so far."""
        path = self.bench.home.config
        return _table(parse_yaml(self._text(path), path), path)

    def _text(self, path: Path) -> str:
        after = {one.path: one.after for one in self.edits()}
        return after.get(path, self.originals.text(path))

    def accounts_of(self, platform: str) -> list[RuntimeId]:
        """Return the accounts of a platform that were seen, the latest first."""
        return [one.account for one in self.seen if one.account.platform == platform]

    def tell(self, text: str) -> None:
        """Say what a check found, and keep it for the result."""
        self.checks.append(text)
        self.asker.say(text)


def _table(node: object, path: Path) -> Table:
    return node if isinstance(node, Table) else Table(Source(path))


def account(platform: str, written: str) -> RuntimeId:
    """Return the account that ``id``, ``team:id`` or ``platform:id`` means on a platform."""
    scope, _, user = written.strip().removeprefix(f"{platform}:").rpartition(":")
    return RuntimeId(PlatformName(platform), UserId(user), ScopeId(scope) if scope else None)
