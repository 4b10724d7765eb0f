"""Homes with given files, and models of the platforms as config.example.yaml describes them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path  # noqa: TC003  (a fixture's annotation)
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, SecretStr

from gateway.model.errors import ConfigurationError
from gateway.settings.home import Home
from gateway.settings.read import Loaded, read

if TYPE_CHECKING:
    from collections.abc import Mapping


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Webhook(_Section):
    url: str | None = None
    listen: str = "127.0.0.1"
    port: int = 8443
    secret: SecretStr | None = None


class Telegram(_Section):
    enabled: bool | Literal["auto"] = "auto"
    mode: Literal["polling", "webhook"] = "polling"
    base_url: str = "https://api.telegram.org/bot"
    base_file_url: str = "https://api.telegram.org/file/bot"
    webhook: Webhook = Webhook()


class Discord(_Section):
    enabled: bool | Literal["auto"] = "auto"
    api_base: str = "https://discord.com/api/v10"
    gateway_url: str = "wss://gateway.discord.gg/"


class Http(_Section):
    listen: str = "127.0.0.1"
    port: int = 3000


class Slack(_Section):
    enabled: bool | Literal["auto"] = "auto"
    mode: Literal["socket", "http"] = "socket"
    base_url: str = "https://slack.com/api/"
    http: Http = Http()
    reply_in_thread: bool = True
    bare_team: str | None = None


MODELS: dict[str, type[BaseModel]] = {"telegram": Telegram, "discord": Discord, "slack": Slack}


@dataclass(frozen=True)
class Homes:
    """Writes a home and reads it."""

    user: Path

    @property
    def home(self) -> Home:
        return Home(self.user / ".hermes", self.user)

    def write(
        self,
        config: str | bytes | None = None,
        honcho: str | bytes | None = None,
        env: str | bytes | None = None,
    ) -> None:
        files = {self.home.config: config, self.home.path / "honcho.json": honcho}
        self.home.path.mkdir(exist_ok=True)
        for path, content in {**files, self.home.env: env}.items():
            if content is not None:
                path.write_bytes(content.encode() if isinstance(content, str) else content)

    def read(
        self,
        config: str | bytes | None = None,
        honcho: str | bytes | None = None,
        env: str | bytes | None = None,
        *,
        environ: Mapping[str, str] | None = None,
        profile: str | None = None,
    ) -> Loaded:
        self.write(config, honcho, env)
        return read(self.home, profile=profile, environ=environ or {}, platform_models=MODELS)

    def problems(
        self,
        config: str | bytes | None = None,
        honcho: str | bytes | None = None,
        env: str | bytes | None = None,
        *,
        environ: Mapping[str, str] | None = None,
    ) -> tuple[str, ...] | None:
        """Return the lines of the error that reading ends with, None if it does not."""
        try:
            self.read(config, honcho, env, environ=environ)
        except ConfigurationError as error:
            return error.problems
        return None

    def faults(
        self,
        config: str | bytes | None = None,
        honcho: str | bytes | None = None,
        env: str | bytes | None = None,
        *,
        environ: Mapping[str, str] | None = None,
    ) -> tuple[str, ...]:
        """Return the lines of the error that reading must end with."""
        found = self.problems(config, honcho, env, environ=environ)
        assert found is not None, "the files were accepted"
        return found
