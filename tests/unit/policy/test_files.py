"""What a file is by its bytes, and what is not even fetched."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.model.events import Attachment, AttachmentKind
from gateway.model.files import FileProblem
from gateway.policy.files import TEXT_LIMIT, image_type, read_text, refuse, size_text

MB = 1 << 20


@pytest.mark.parametrize(
    ("head", "mime"),
    [
        (b"\x89PNG\r\n\x1a\n....", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
        (b"RIFF\0\0\0\0WAVEfmt ", ""),
        (b"<svg", ""),
        (b"", ""),
    ],
)
def test_pictures_are_known_by_their_bytes(head: bytes, mime: str) -> None:
    assert image_type(head) == mime


@pytest.mark.parametrize(
    ("data", "text"),
    [
        pytest.param("héllo".encode(), "héllo", id="utf-8"),
        pytest.param("\ufeffhi".encode(), "hi", id="byte order mark"),
        pytest.param("héllo".encode("utf-16"), "héllo", id="utf-16"),
        pytest.param(b"", "", id="empty"),
        pytest.param(b"a\0b", None, id="zero byte"),
        pytest.param(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3", None, id="pdf"),
        pytest.param(b"PK\x03\x04\x14\0", None, id="zip"),
        pytest.param("héllo".encode("latin-1"), None, id="some other encoding"),
        pytest.param("é".encode()[:1], None, id="cut inside a character, at its end"),
    ],
)
def test_only_text_is_read(data: bytes, text: str | None) -> None:
    assert read_text(data, whole=True) == text


@given(st.text(st.characters(exclude_characters="\0\ufeff", exclude_categories=["Cs"])), st.data())
def test_a_beginning_of_text_is_a_beginning_of_it(text: str, data: st.DataObject) -> None:
    encoded = text.encode()
    cut = data.draw(st.integers(0, len(encoded)))
    found = read_text(encoded[:cut], whole=False)
    assert found is not None
    assert text.startswith(found)
    assert len(text) - len(found) <= len(encoded) - cut + 3


def test_a_long_document_is_cut() -> None:
    assert read_text(b"x" * (TEXT_LIMIT + 1), whole=True) == "x" * TEXT_LIMIT


@pytest.mark.parametrize(
    ("attachment", "problem"),
    [
        (Attachment(AttachmentKind.IMAGE, "r", size=MB), None),
        (Attachment(AttachmentKind.IMAGE, "r"), None),
        (Attachment(AttachmentKind.OTHER, "r"), None),
        (Attachment(AttachmentKind.IMAGE, "r", size=MB + 1), FileProblem.TOO_LARGE),
        (Attachment(AttachmentKind.VOICE, "r", size=MB + 1), FileProblem.TOO_LARGE),
        (Attachment(AttachmentKind.VOICE, "r"), FileProblem.NO_TRANSCRIBER),
        (Attachment(AttachmentKind.DOCUMENT, "r", mime="audio/mp4"), FileProblem.NO_TRANSCRIBER),
        (Attachment(AttachmentKind.VIDEO, "r"), FileProblem.UNREADABLE),
        (Attachment(AttachmentKind.STICKER, "r"), FileProblem.NO_FILE),
        (Attachment(AttachmentKind.OTHER, "", name="poll"), FileProblem.NO_FILE),
    ],
)
def test_what_is_not_fetched(attachment: Attachment, problem: FileProblem | None) -> None:
    assert refuse(attachment, limit=MB, transcribes=False) is problem


def test_speech_is_fetched_where_it_is_written_down() -> None:
    assert refuse(Attachment(AttachmentKind.VOICE, "r"), limit=MB, transcribes=True) is None


@pytest.mark.parametrize(
    ("size", "shown"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "0.977 kB"),
        (1024, "1 kB"),
        (20 * MB, "20 MB"),
        (3 * MB + 300_000, "3.29 MB"),
        (2 << 30, "2 GB"),
    ],
)
def test_sizes_are_shown_as_people_read_them(size: int, shown: str) -> None:
    assert size_text(size) == shown
