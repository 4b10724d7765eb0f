"""Logs: one event a line, no secret, whoever wrote it (H-42)."""

from __future__ import annotations

import json
import logging

import pytest
import structlog

from gateway.ops import logs
from gateway.settings.schema import LogSettings

TOKEN = "111222333:AAinventedTokenForTests_0123456789abcd"
BEHIND = TOKEN.partition(":")[2]


def _lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    out, err = capsys.readouterr()
    assert out == ""
    return err.splitlines()


@pytest.mark.parametrize("form", ["json", "console"])
def test_a_secret_is_masked_in_every_record(capsys: pytest.CaptureFixture[str], form: str) -> None:
    logs.configure(
        LogSettings.model_validate({"format": form, "level": "debug"}), {TOKEN, "hch-short-1"}
    )
    ours, foreign = structlog.get_logger(), logging.getLogger("some.package")
    ours.info("told", action="test", detail=f"bot{TOKEN}/getMe", key="hch-short-1")
    foreign.warning("GET https://api.example/bot%s/getMe", TOKEN)
    foreign.debug("header %s", {"authorization": f"Bearer {BEHIND}"})
    try:
        raise RuntimeError(f"no route to {TOKEN}")
    except RuntimeError:
        ours.exception("broke", action="test")
        foreign.exception("broke")
    text = "\n".join(_lines(capsys))
    assert "told" in text
    assert "RuntimeError" in text
    for secret in (TOKEN, BEHIND, "hch-short-1"):
        assert secret not in text


def test_a_record_is_one_line_of_json(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(LogSettings(format="json"), ())
    try:
        raise ValueError("first\nsecond")
    except ValueError:
        structlog.get_logger().exception("broke", action="test", turn="t_1", place="a\nb")
    [line] = _lines(capsys)
    record = json.loads(line)
    assert (record["event"], record["action"], record["place"]) == ("broke", "test", "a\nb")
    assert "ValueError" in record["exception"]


@pytest.mark.parametrize("name", logs.TALKATIVE)
def test_libraries_that_log_addresses_or_bodies_are_kept_quiet(
    capsys: pytest.CaptureFixture[str], name: str
) -> None:
    logs.configure(LogSettings(level="debug", format="json"), ())
    for logger in (name, f"{name}.inner"):
        logging.getLogger(logger).info("POST https://api.example/secret")
        logging.getLogger(logger).warning("still heard")
    assert [json.loads(line)["event"] for line in _lines(capsys)] == ["still heard"] * 2


def test_extra_fields_of_foreign_records_are_dropped(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(LogSettings(format="json"), ())
    logging.getLogger("library").warning("slow", extra={"body": "what somebody said"})
    [line] = _lines(capsys)
    assert "what somebody said" not in line


@pytest.mark.parametrize(
    ("settings", "quiet", "heard"),
    [
        ({}, False, ["info", "warning"]),
        ({}, True, ["warning"]),
        ({"level": "info"}, True, ["info", "warning"]),
        ({"level": "debug"}, False, ["debug", "info", "warning"]),
        ({"level": "error"}, False, []),
    ],
)
def test_the_level_is_what_was_set_or_suits_the_terminal(
    capsys: pytest.CaptureFixture[str], settings: dict[str, str], quiet: bool, heard: list[str]
) -> None:
    logs.configure(LogSettings.model_validate({**settings, "format": "json"}), (), quiet=quiet)
    log = structlog.get_logger()
    for level in ("debug", "info", "warning"):
        getattr(log, level)("said", action="test")
    assert [json.loads(line)["level"] for line in _lines(capsys)] == heard


def test_a_standard_error_that_is_gone_stops_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    logs.configure(LogSettings(format="json"), ())
    with monkeypatch.context() as context:
        context.setattr("sys.stderr", None)
        structlog.get_logger().warning("unheard", action="test")
    structlog.get_logger().warning("heard", action="test")
    assert [json.loads(line)["event"] for line in _lines(capsys)] == ["heard"]


def test_secrets_are_learnt_while_running(capsys: pytest.CaptureFixture[str]) -> None:
    redactor = logs.configure(LogSettings(format="json"), {"old-secret-1"})
    redactor.learn({"new-secret-2"})
    structlog.get_logger().warning("told", action="test", detail="new-secret-2 old-secret-1")
    [line] = _lines(capsys)
    assert '"[secret] [secret]"' in line
