"""Reading a home's settings as this product understands them, and changing those of memory.

Commands that do nothing else must not wait for what the gateway itself is made of.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from gateway.app.platforms import MANIFESTS
from gateway.settings import files
from gateway.settings.read import read
from gateway.settings.rewrite import edit_honcho, honcho_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from gateway.settings.dialects import Value
    from gateway.settings.home import Home
    from gateway.settings.read import Loaded
    from gateway.settings.splice import Remove


def load(
    home: Home,
    environ: Mapping[str, str] | None = None,
    *,
    profile: str | None = None,
    instead: Mapping[Path, str] | None = None,
) -> Loaded:
    """Read the configuration of ``home``; ``profile`` was asked for on the command line.

    ``instead``: texts to judge in place of what files hold. Raises ``ConfigurationError``.
    """
    models = {manifest.name: manifest.settings for manifest in MANIFESTS}
    return read(
        home,
        profile=profile,
        environ=os.environ if environ is None else environ,
        platform_models={name: model for name, model in models.items() if name != "console"},
        instead=instead,
    )


def judge_memory(
    home: Home,
    loaded: Loaded,
    changes: Mapping[tuple[str, ...], Value | Remove],
    *,
    own: bool = False,
) -> Loaded:
    """Return what would hold after a change of the memory settings; nothing is written.

    ``own``: see ``edit_honcho``. Raises ``ConfigurationError`` for what would not be accepted
    at the next start.
    """
    path, profile = loaded.honcho_file, loaded.settings.profile
    content = files.load(path)
    text = honcho_text(path, content.text if content else "", changes, hosts=loaded.hosts, own=own)
    return load(home, profile=profile, instead={path: text})


def change_memory(
    home: Home,
    loaded: Loaded,
    changes: Mapping[tuple[str, ...], Value | Remove],
    *,
    own: bool = False,
) -> Loaded:
    """Change keys of the memory settings as they hold for this host; return what holds then.

    Raises what ``judge_memory`` and ``edit_honcho`` raise; nothing is written then.
    """
    changed = judge_memory(home, loaded, changes, own=own)
    path = loaded.honcho_file
    edit_honcho(
        path, loaded.digests.get(path, files.MISSING), changes, hosts=loaded.hosts, own=own
    )
    return changed
