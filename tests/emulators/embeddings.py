"""An OpenAI-compatible encoder on 127.0.0.1: equal words, and words of one meaning, are close."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any

from aiohttp import web

from tests.emulators.loopback import LoopbackServer

if TYPE_CHECKING:
    from collections.abc import Sequence

#: words that mean the same
MEANINGS = (
    ("dog", "hound", "собака", "собаку", "狗"),
    ("live", "home", "живу", "дом", "住"),
    ("doctor", "physician", "врач", "врачом", "医生"),
)
_DIMENSION = 512


class EncoderStub(LoopbackServer):
    """``async with EncoderStub() as encoder``; ``encoder.base_url`` goes into the client."""

    def __init__(self) -> None:
        super().__init__()
        #: (model, texts) of every request
        self.requests: list[tuple[str, list[str]]] = []
        #: when set, requests need it as their bearer token
        self.api_key = ""
        #: status of the next answers instead
        self.status = 200

    @property
    def base_url(self) -> str:
        """Address of the API, with ``/v1``."""
        return f"{self.address}/v1"

    @property
    def texts(self) -> list[str]:
        """All texts that were encoded, in order."""
        return [text for _, texts in self.requests for text in texts]

    def routes(self) -> Sequence[web.RouteDef]:
        return [web.post("/v1/embeddings", self._embed)]

    async def _embed(self, request: web.Request) -> web.Response:
        if self.api_key and request.headers.get("Authorization") != f"Bearer {self.api_key}":
            return web.json_response({"error": {"message": "no key"}}, status=401)
        body = await request.json()
        self.requests.append((body["model"], body["input"]))
        if self.status != web.HTTPOk.status_code:
            return web.json_response({"error": {"message": "echo"}}, status=self.status)
        data: list[dict[str, Any]] = [
            {"object": "embedding", "index": index, "embedding": vector(text)}
            for index, text in enumerate(body["input"])
        ]
        # servers may answer in any order: the index tells
        return web.json_response({"object": "list", "data": data[::-1], "model": body["model"]})


def vector(text: str) -> list[float]:
    """Return a text's vector: one place for each word, the same for words of one meaning."""
    values = [0.0] * _DIMENSION
    for word in re.findall(r"[^\W\d_]+", text.casefold()):
        for part in _meanings(word):
            values[_place(part)] += 1.0
    return values


def _place(part: str) -> int:
    return int.from_bytes(hashlib.sha256(part.encode()).digest()[:4]) % _DIMENSION


def _meanings(word: str) -> list[str]:
    named = [f"~{index}" for index, each in enumerate(MEANINGS) if any(w in word for w in each)]
    return named or [word]
