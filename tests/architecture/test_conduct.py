"""The product is finished, described, within its budgets, silent, and catches what it names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.architecture.budgets import budget_faults, report
from tests.architecture.conduct import (
    broad_excepts,
    machine_paths,
    prints,
    undescribed,
    unfinished,
)
from tests.architecture.sources import CODE, PRODUCT, ROOT, modules, write_tree

if TYPE_CHECKING:
    from pathlib import Path

#: the only functions that may catch everything, and why
SUPERVISED = {
    "gateway/mailbox/drain.py Drain._handle": "a defect costs one item its turn, not the worker",
    "gateway/store/sqlite.py SqliteStore._apply": "an operation's error is handed to its caller",
    "gateway/supervisor.py Supervisor._keep_up": "a broken part is started again, alone",
}


def test_files_and_functions_keep_their_budgets() -> None:
    assert budget_faults(modules(ROOT, *CODE)) == []


def test_everything_is_caught_in_supervised_loops_only() -> None:
    assert broad_excepts(modules(ROOT, *PRODUCT), SUPERVISED) == []


def test_the_product_does_not_print() -> None:
    assert prints(modules(ROOT, *PRODUCT)) == []


def test_the_product_is_finished() -> None:
    assert unfinished(modules(ROOT, *PRODUCT)) == []


def test_every_module_says_what_it_is_for() -> None:
    tests = [module for module in modules(ROOT, "tests") if module.text]
    assert undescribed([*modules(ROOT, *PRODUCT), *tests]) == []


def test_no_file_names_a_path_of_one_machine() -> None:
    assert machine_paths(ROOT) == []


def _one(tmp_path: Path, source: str) -> list[str]:
    found = modules(write_tree(tmp_path, {"gateway/a.py": source}), *PRODUCT)
    return [
        *budget_faults(found),
        *broad_excepts(found, {}),
        *prints(found),
        *unfinished(found),
        *undescribed(found),
        *machine_paths(tmp_path),
    ]


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ("x = 1\n" * 400, "gateway/a.py: 401 lines, at most 400"),
        ("def f():\n" + "    x = 1\n" * 60, "gateway/a.py:2 f: 61 lines, at most 60"),
        ("def f(a, b, c, d, e, g): ...", "gateway/a.py:2 f: 6 positional parameters, at most 5"),
        ("def f():\n  try: g()\n  except: h()", "gateway/a.py f (line 4)"),
        ("try: g()\nexcept Exception: h()", "gateway/a.py  (line 3)"),
        ("try: g()\nexcept (OSError, BaseException): h()", "gateway/a.py  (line 3)"),
        ("with contextlib.suppress(Exception): g()", "gateway/a.py  (line 2)"),
        ("print('hello')", "gateway/a.py:2: print()"),
        ("raise NotImplementedError", "gateway/a.py:2: NotImplementedError"),
        ("x = 1  # FIXME later", "gateway/a.py:2: FIXME"),
        ("x = '/home/ada/notes'", "gateway/a.py:2: /home/ada"),
    ],
)
def test_the_checkers_see(tmp_path: Path, body: str, fault: str) -> None:
    (line,) = _one(tmp_path, f'"""A module."""\n{body}')
    assert line.startswith(fault)


def test_the_checkers_see_a_module_without_a_docstring(tmp_path: Path) -> None:
    assert _one(tmp_path, "x = 1\n") == ["gateway/a.py"]


def test_the_checkers_let_good_code_pass(tmp_path: Path) -> None:
    source = (
        '"""A module."""\n'
        + "def f(self, a, b, c, d, e, *, g): ...\n"
        + "def h():\n"
        + "    x = 1\n" * 59
        + "try: h()\nexcept (OSError, ValueError): ...\n"
        + "try: h()\nexcept BaseException:\n    h()\n    raise\n"
        + "x = '~/.hermes and https://example.org/home/ada'\n"
    )
    assert _one(tmp_path, source) == []


def test_an_allowed_loop_may_catch_everything_as_long_as_it_does(tmp_path: Path) -> None:
    source = "class A:\n  async def run(self):\n    try: ...\n    except Exception: ..."
    found = modules(write_tree(tmp_path, {"gateway/a.py": source}), *PRODUCT)
    allowed = {"gateway/a.py A.run": "supervised", "gateway/a.py A.gone": "no longer there"}
    assert broad_excepts(found, allowed) == [
        "gateway/a.py A.gone: allowed to catch everything, but does not"
    ]


def test_the_report_tells_the_numbers(tmp_path: Path) -> None:
    source = "".join(f"def f{n}():\n" + "    x = 1\n" * n for n in range(1, 11))
    found = modules(write_tree(tmp_path, {"gateway/a.py": source}), *PRODUCT)
    assert report(found).splitlines()[:3] == [
        "1 files, 65 lines, 10 functions",
        "files      median 65, p90 65, largest 65 (aim 300, hard 400)",
        "functions  median 6.5 (aim 8), p90 10 (aim 25), longest 11 (hard 60)",
    ]
