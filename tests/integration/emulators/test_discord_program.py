"""The emulator as a program of its own, driven from another process."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import httpx

from tests.emulators.discord import CHANNEL, make_token


def test_discord_can_be_driven_over_http() -> None:
    token = make_token("777")
    command = [sys.executable, "-m", "tests.emulators.discord", "--token", token]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, **pipes) as process:
        try:
            drive(process, token)
        finally:
            process.kill()


def drive(process: subprocess.Popen[str], token: str) -> None:
    assert process.stdout is not None
    facts = json.loads(process.stdout.readline())
    assert facts["tokens"] == [token]
    assert facts["gateway_url"].startswith("ws://127.0.0.1:")

    def post(action: str, **body: Any) -> Any:
        answer = httpx.post(f"{facts['address']}/_control/{action}", json=body)
        return answer.json().get("result", answer)

    def send(text: str) -> httpx.Response:
        return httpx.post(
            f"{facts['api_base']}/channels/{CHANNEL}/messages",
            json={"content": text},
            headers={"Authorization": f"Bot {token}"},
        )

    post("channel", channel=CHANNEL)
    said = post("say", text="hello", channel=CHANNEL)
    post("edit", message=said, text="hello again", channel=CHANNEL)
    post("grant", user="42", roles=["5"])
    post("limit", route="send", retry_after=3)
    assert send("x").json()["retry_after"] == 3
    assert send("answer").status_code == 200
    assert [one["content"] for one in post("wait", count=1, channel=CHANNEL)] == ["answer"]
    assert [one["content"] for one in post("messages", channel=CHANNEL)] == [
        "hello again",
        "answer",
    ]
    assert post("calls")[-1]["body"] == {"content": "answer"}
    assert post("file", content="cG5n", name="p.png")["size"] == 3
    pressed = post("press", name="new", channel=CHANNEL)
    assert post("interaction", interaction=pressed)["answer"] is None
    assert post("bot", token=make_token("778"))["id"] == "778"
    assert httpx.post(f"{facts['address']}/_control/explode").status_code == 400
    assert (
        httpx.post(f"{facts['address']}/_control/delete", json={"message": "5"}).status_code == 400
    )

    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(10) == 0
