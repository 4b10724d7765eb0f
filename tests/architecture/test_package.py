"""The wheel holds what the program needs at run time, and nothing of the workshop."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

import pytest

from tests.architecture.sources import PRODUCT, ROOT

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.Path:
    folder: Path = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        check=True,
        capture_output=True,
        timeout=50,
    )
    (file,) = folder.glob("*.whl")
    return zipfile.Path(file)


def test_the_wheel_holds_every_file_of_the_product(wheel: zipfile.Path) -> None:
    packed = set(wheel.root.namelist())
    wanted = {
        file.relative_to(ROOT).as_posix()
        for package in PRODUCT
        for file in (ROOT / package).rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    assert wanted - packed == set()


def test_the_wheel_holds_only_the_product_its_licence_and_its_entry_point(
    wheel: zipfile.Path,
) -> None:
    tops = {entry.name for entry in wheel.iterdir()}
    (info,) = (entry for entry in wheel.iterdir() if entry.name.endswith(".dist-info"))
    assert tops == {*PRODUCT, info.name}
    assert (info / "licenses" / "LICENSE").read_text(encoding="utf-8") == (
        ROOT / "LICENSE"
    ).read_text(encoding="utf-8")
    assert "hermes-gateway = gateway.cli.entry:main" in (info / "entry_points.txt").read_text(
        encoding="utf-8"
    )


def test_the_licence_is_whole() -> None:
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert text.split()[:4] == ["Apache", "License", "Version", "2.0,"]
    assert all(f"\n   {number}. " in text for number in range(1, 10))
    assert "limitations under the License." in text.splitlines()[-1]
