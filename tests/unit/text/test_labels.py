"""Names of files that the agent sends: safe on every disk, and told for what they are."""

from __future__ import annotations

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from gateway.text.labels import distinct, document_label, picture_label


@pytest.mark.parametrize(
    ("name", "label", "mime"),
    [
        ("plan.md", "plan.md", "text/markdown"),
        ("Umsätze 2026.CSV", "Umsätze 2026.CSV", "text/csv"),
        ("计划.txt", "计划.txt", "text/plain"),
        ("notes", "notes.txt", "text/plain"),
        ("../../etc/passwd", "passwd.txt", "text/plain"),
        ("C:\\Windows\\run.bat", "run.bat.txt", "text/plain"),
        ("setup.exe", "setup.exe.txt", "text/plain"),
        ("page.html", "page.html.txt", "text/plain"),
        (".bashrc", "bashrc.txt", "text/plain"),
        ("a\u202egnp.md", "agnp.md", "text/markdown"),
        ("two\nlines.md", "two lines.md", "text/markdown"),
        ("CON.md", "_CON.md", "text/markdown"),
        ("x" * 300 + ".md", "x" * 77 + ".md", "text/markdown"),
        ("x" * 300, "x" * 76 + ".txt", "text/plain"),
        ("", "document.txt", "text/plain"),
        ("../", "document.txt", "text/plain"),
        ("=", "document.txt", "text/plain"),
        ("a`b$(c).md", "a-b--c.md", "text/markdown"),
    ],
)
def test_a_document_is_called_safely(name: str, label: str, mime: str) -> None:
    assert document_label(name) == (label, mime)


@given(st.text(max_size=200))
def test_no_name_is_a_path_or_hides_what_it_is(name: str) -> None:
    label, _ = document_label(name)
    assert not regex.search(r"\p{C}", label)
    assert not set(label) & set('\\/:*?"<>|\0')
    assert not label.startswith((".", "-"))
    assert 1 <= len(label) <= 81
    assert document_label(label)[0] == label


@pytest.mark.parametrize(
    ("mime", "label"),
    [
        ("image/png", "picture-3.png"),
        ("image/jpeg; q=1", "picture-3.jpg"),
        ("audio/mpeg", "file-3.mp3"),
        ("application/x-sh", ""),
        ("", ""),
    ],
)
def test_what_a_model_made_is_called_by_what_it_is(mime: str, label: str) -> None:
    assert picture_label(mime, 2) == label


def test_no_two_files_of_an_answer_are_called_alike() -> None:
    labels = ["a.md", "A.md", "a-2.md", "b.md", "a.md"]
    assert distinct(labels) == ["a.md", "A-2.md", "a-2-2.md", "b.md", "a-3.md"]
