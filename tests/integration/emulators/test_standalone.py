"""The emulators as programs of their own, driven from another process."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import httpx
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def running(module: str, *options: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    command = [sys.executable, "-m", f"tests.emulators.{module}", *options]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, **pipes) as process:
        try:
            assert process.stdout is not None
            yield process, json.loads(process.stdout.readline())
        finally:
            process.kill()


def test_telegram_can_be_driven_over_http() -> None:
    with running("telegram", "--token", "7:SEVEN") as (process, facts):
        control = f"{facts['address']}/_control"

        def post(action: str, **body: Any) -> Any:
            answer = httpx.post(f"{control}/{action}", json=body)
            return answer.json().get("result", answer)

        def send(text: str) -> httpx.Response:
            fields = {"chat_id": "42", "text": text}
            return httpx.post(f"{facts['base_url']}7:SEVEN/sendMessage", data=fields)

        said = post("say", text="hello")
        assert said == 1
        post("edit", message=said, text="hello again")
        updates = httpx.get(f"{facts['base_url']}7:SEVEN/getUpdates").json()["result"]
        assert [list(update) for update in updates] == [
            ["message", "update_id"],
            ["edited_message", "update_id"],
        ]
        post("fail", method="sendMessage", code=429, retry_after=3)
        assert send("x").json()["parameters"] == {"retry_after": 3}
        post("lose", method="sendMessage")
        with pytest.raises(httpx.RemoteProtocolError):
            send("lost")
        assert [answer["text"] for answer in post("wait", count=1)] == ["lost"]
        assert [message["message_id"] for message in post("messages")] == [1, 2]
        assert post("calls")[-1]["args"] == {"chat_id": "42", "text": "lost"}
        stored = post("file", content="cG5n", name="p.png", mime="image/png")
        assert stored["file_size"] == 3
        assert httpx.post(f"{control}/explode").status_code == 400
        assert httpx.post(f"{control}/delete", json={"chat": 42}).status_code == 400

        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(10) == 0


def test_slack_can_be_driven_over_http() -> None:
    with running("slack") as (process, facts):
        control = f"{facts['address']}/_control"
        token = {"Authorization": f"Bearer {facts['tokens'][0]}"}

        def post(action: str, **body: Any) -> Any:
            answer = httpx.post(f"{control}/{action}", json=body)
            return answer.json().get("result", answer)

        def send(text: str) -> httpx.Response:
            fields = {"channel": "C0ROOM0001", "text": text}
            return httpx.post(f"{facts['base_url']}chat.postMessage", json=fields, headers=token)

        said = post("mention", text="hello")
        post("edit", channel="C0ROOM0001", ts=said, text="hello again")
        post("rate_limit", method="chat.postMessage", retry_after=3)
        assert send("x").headers["Retry-After"] == "3"
        post("lose", method="chat.postMessage")
        with pytest.raises(httpx.RemoteProtocolError):
            send("lost")
        [answer] = post("wait", count=1, channel="C0ROOM0001")
        assert answer["text"] == "lost"
        texts = [message["text"] for message in post("messages", channel="C0ROOM0001")]
        assert texts == ["hello again", "lost"]
        assert post("calls")[-1]["args"] == {"channel": "C0ROOM0001", "text": "lost"}
        assert [attempt["number"] for attempt in post("attempts")][:2] == [0, 0]
        assert post("share_file", content="cG5n", name="p.png", mime="image/png")
        assert httpx.post(f"{control}/explode").status_code == 400

        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(10) == 0


def test_the_model_can_be_driven_over_http() -> None:
    with running("openai") as (process, facts):
        control = f"{facts['address']}/_control"
        body = {"model": facts["models"][0], "messages": [{"role": "user", "content": "hi"}]}

        def ask() -> httpx.Response:
            return httpx.post(f"{facts['base_url']}/chat/completions", json=body)

        assert ask().json()["choices"][0]["message"]["content"] == "You said: hi"
        httpx.post(f"{control}/script", json={"answers": ["scripted"]}).raise_for_status()
        httpx.post(f"{control}/fail", json={"status": 503}).raise_for_status()
        assert ask().status_code == 503
        assert ask().json()["choices"][0]["message"]["content"] == "scripted"
        assert httpx.get(f"{control}/requests").json()["result"] == [body] * 3
        assert httpx.post(f"{control}/explode").status_code == 400

        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(10) == 0


def test_an_emulator_ends_when_its_time_is_over() -> None:
    with running("openai", "--max-seconds", "0.05") as (process, _facts):
        assert process.wait(10) == 0
