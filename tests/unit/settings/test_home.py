"""Where a home is and what lies in it."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from gateway.model.errors import ConfigurationError
from gateway.settings.home import (
    Home,
    check_profile,
    make_private_file,
    make_private_folder,
)

USER = "/srv/mira"


@pytest.mark.parametrize(
    ("environ", "profile", "path", "name"),
    [
        ({}, None, "/srv/mira/.hermes", "default"),
        ({}, "work", "/srv/mira/.hermes/profiles/work", "work"),
        ({"HERMES_HOME": "/srv/h"}, None, "/srv/h", "default"),
        ({"HERMES_HOME": "/srv/h"}, "work", "/srv/h/profiles/work", "work"),
        ({"HERMES_HOME": "/srv/h/profiles/a"}, None, "/srv/h/profiles/a", "a"),
        ({"HERMES_HOME": "/srv/h/profiles/a"}, "b", "/srv/h/profiles/b", "b"),
        ({"HERMES_HOME": "/srv/h/profiles/a"}, "default", "/srv/h", "default"),
        ({"HERMES_HOME": " "}, "default", "/srv/mira/.hermes", "default"),
    ],
)
def test_find(environ: dict[str, str], profile: str | None, path: str, name: str) -> None:
    home = Home.find({"HOME": USER, **environ}, profile)
    assert (home.path, home.profile) == (Path(path), name)
    assert home.config == Path(path) / "config.yaml"
    assert home.database == Path(path) / "gateway" / "gateway.db"


@pytest.mark.parametrize("profile", ["..", "a/b", "", "-x", "a b", "é", "x" * 65])
def test_profile_must_be_a_name(profile: str) -> None:
    with pytest.raises(ConfigurationError, match="--profile"):
        Home.find({"HOME": USER}, profile)


def test_memory_settings_are_searched_in_order() -> None:
    found = Home.find({"HOME": USER, "HERMES_HOME": "/srv/h"}).honcho_candidates
    assert [str(path) for path in found] == [
        "/srv/h/honcho.json",
        "/srv/mira/.hermes/honcho.json",
        "/srv/mira/.honcho/config.json",
    ]
    assert len(Home.find({"HOME": USER}).honcho_candidates) == 2
    office = Home.find({"HOME": USER, "HERMES_HOME": "/srv/h"}, "office").honcho_candidates
    assert [str(path) for path in office[:2]] == [
        "/srv/h/profiles/office/honcho.json",
        "/srv/h/honcho.json",
    ]


def test_the_profiles_beside_a_home(tmp_path: Path) -> None:
    home = Home(tmp_path, tmp_path)
    assert [one.profile for one in home.neighbours()] == ["default"]
    for name in ("work", "a", ".hidden"):
        (tmp_path / "profiles" / name).mkdir(parents=True)
    (tmp_path / "profiles" / "file").touch()
    assert [one.profile for one in home.of("work").neighbours()] == ["default", "a", "work"]
    check_profile(home)
    check_profile(home.of("a"))
    with pytest.raises(ConfigurationError, match=r"no profile wrk; did you mean work\? There are"):
        check_profile(home.of("wrk"))


def test_created_things_are_private(tmp_path: Path) -> None:
    file = make_private_file(make_private_folder(tmp_path / "a" / "b") / "c")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert {stat.S_IMODE(path.stat().st_mode) for path in file.parents[:2]} == {0o700}
    file.write_text("kept")
    assert make_private_file(file).read_text() == "kept"
