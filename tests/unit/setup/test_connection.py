"""From one memory service to another: whatever the file looks like, no address or key is lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gateway.settings import rewrite, rewrite_env
from gateway.settings.dotenv import parse_dotenv
from gateway.settings.environment import Variables
from gateway.settings.findings import Findings
from gateway.settings.honcho import read_memory
from gateway.settings.honcho_keys import CLOUD
from gateway.settings.json_nodes import parse_json
from gateway.settings.nodes import Table
from gateway.setup import connection
from gateway.setup.connection import Connections, Where, use_cloud, use_server
from gateway.setup.drafts import Draft

_PATH, _ENV = Path("honcho.json"), Path(".env")
_HOSTS = ("hermes",)
_URL = "http://honcho.lan:8000"


class Files:
    """honcho.json and .env as texts, changed as the wizard does."""

    def __init__(self, honcho: dict[str, Any], env: str = "") -> None:
        self.honcho = json.dumps(honcho, indent=2)
        self.env = env

    @property
    def tree(self) -> dict[str, Any]:
        return dict(json.loads(self.honcho))

    @property
    def effective(self) -> tuple[str | None, str]:
        """Address and key that the gateway would use."""
        settings = self._read()
        key = settings.api_key.get_secret_value() if settings.api_key else ""
        return settings.base_url, key

    def _read(self) -> Any:
        findings = Findings(Path())
        variables = Variables.merge({}, parse_dotenv(self.env, _ENV, findings))
        root = parse_json(self.honcho, _PATH)
        assert isinstance(root, Table)
        memory = read_memory(root, _HOSTS, variables, (), findings=findings)
        assert findings.faults == []
        return memory.settings

    def connections(self) -> Connections:
        root = parse_json(self.honcho, _PATH)
        assert isinstance(root, Table)
        variable = self.env.partition("HONCHO_API_KEY=")[2].strip()
        return connection.read(
            root, _HOSTS, self._read(), variable=variable, variable_in_file=bool(variable)
        )

    def change(self, draft: Draft) -> None:
        self.honcho = rewrite.honcho_text(_PATH, self.honcho, draft.honcho, hosts=_HOSTS)
        self.env = rewrite_env.changed(_ENV, self.env, draft.env)


CLOUD_FILES: dict[str, tuple[dict[str, Any], str]] = {
    "key at the root": ({"apiKey": "cloud-key", "peerName": "mira"}, ""),
    "key in the host block": ({"hosts": {"hermes": {"apiKey": "cloud-key"}}}, ""),
    "key in .env": ({"workspace": "home"}, "HONCHO_API_KEY=cloud-key\n"),
    "cloud address": (
        {"hosts": {"hermes": {"baseUrl": "https://api.honcho.dev", "apiKey": "cloud-key"}}},
        "",
    ),
}
SERVER_FILES: dict[str, tuple[dict[str, Any], str]] = {
    "host block": ({"hosts": {"hermes": {"baseUrl": _URL, "apiKey": "jwt"}}}, ""),
    "beside a cloud key": (
        {"apiKey": "cloud-key", "hosts": {"hermes": {"baseUrl": _URL, "apiKey": "jwt"}}},
        "",
    ),
    "at the root": ({"baseUrl": _URL, "apiKey": "jwt"}, ""),
    "older spelling": ({"hosts": {"hermes": {"base_url": _URL, "apiKey": "jwt"}}}, ""),
}


@pytest.mark.parametrize(("tree", "env"), CLOUD_FILES.values(), ids=CLOUD_FILES)
@pytest.mark.parametrize("token", ["jwt", ""])
def test_to_a_server_and_back(tree: dict[str, Any], env: str, token: str) -> None:
    files = Files(tree, env)
    before = files.effective
    assert files.connections().present is Where.CLOUD
    files.change(use_server(files.connections(), f"{_URL}/", token))
    assert files.effective == (_URL, token)
    assert files.connections().present is Where.SERVER
    assert files.connections().cloud.key == "cloud-key"
    files.change(use_cloud(files.connections(), files.connections().cloud.key))
    assert files.effective == before
    assert files.connections().server == connection.Stored(_URL, token)
    files.change(use_server(files.connections(), _URL, files.connections().server.key))
    assert files.effective == (_URL, token)
    assert files.connections().cloud.key == "cloud-key"


@pytest.mark.parametrize(("tree", "env"), SERVER_FILES.values(), ids=SERVER_FILES)
def test_to_the_cloud_and_back(tree: dict[str, Any], env: str) -> None:
    files = Files(tree, env)
    assert files.connections().present is Where.SERVER
    assert files.connections().server == connection.Stored(_URL, "jwt")
    files.change(use_cloud(files.connections(), "new-cloud-key"))
    url, key = files.effective
    assert url in (None, CLOUD)
    assert key == "new-cloud-key"
    assert files.connections().server == connection.Stored(_URL, "jwt")
    files.change(use_server(files.connections(), _URL, "jwt"))
    assert files.effective == (_URL, "jwt")
    assert files.connections().cloud.key in ("new-cloud-key", "cloud-key")
    # what stood at the root, perhaps for other profiles, was never touched
    root = {name: value for name, value in files.tree.items() if name != "hosts"}
    assert root == {name: value for name, value in tree.items() if name != "hosts"}


@pytest.mark.parametrize(
    ("tree", "env", "place"),
    [
        ({"apiKey": "old"}, "", ("apiKey",)),
        ({"apiKey": "old", "hosts": {"hermes": {"apiKey": "x"}}}, "", ("hosts", "hermes")),
        ({}, "", ("hosts", "hermes")),
    ],
)
def test_a_new_key_goes_where_one_stands_or_into_the_host_block(
    tree: dict[str, Any], env: str, place: tuple[str, ...]
) -> None:
    files = Files(tree, env)
    files.change(use_cloud(files.connections(), "new"))
    found: Any = files.tree
    for name in place:
        found = found[name]
    assert (found if isinstance(found, str) else found["apiKey"]) == "new"
    assert files.effective == (None, "new")


def test_a_new_key_replaces_the_one_in_env() -> None:
    files = Files({"workspace": "home"}, "# keys\nHONCHO_API_KEY=old\n")
    files.change(use_cloud(files.connections(), "new"))
    assert files.env == "# keys\nHONCHO_API_KEY=new\n"
    assert files.tree == {"workspace": "home"}


def test_a_cloud_key_is_not_sent_to_a_server_without_token() -> None:
    files = Files({"apiKey": "cloud-key"}, "HONCHO_API_KEY=other-cloud-key\n")
    files.change(use_server(files.connections(), _URL, ""))
    assert files.effective == (_URL, "")
    assert files.tree["apiKey"] == "cloud-key"


def test_the_same_again_changes_nothing() -> None:
    for tree, env in SERVER_FILES.values():
        files = Files(tree, env)
        assert use_server(files.connections(), _URL, "jwt") == Draft()
    for tree, env in CLOUD_FILES.values():
        files = Files(tree, env)
        assert use_cloud(files.connections(), "cloud-key") == Draft()


def test_a_local_environment_is_a_server() -> None:
    files = Files({"environment": "local", "apiKey": "jwt"})
    assert files.connections().present is Where.SERVER
    assert files.connections().server == connection.Stored("http://localhost:8000", "jwt")
    files.change(use_cloud(files.connections(), "cloud-key"))
    assert files.tree["hosts"]["hermes"]["environment"] == "production"
    assert files.effective == (None, "cloud-key")
