"""What else lives in this Python environment."""

from __future__ import annotations

from importlib import metadata

OURS = "hermes-gateway"


def package_clash() -> str | None:
    """Say so when another product installed a package named ``gateway`` here, with the remedy.

    hermes-agent does: whichever was installed last overwrote the other's files.
    """
    names = metadata.packages_distributions()
    others = sorted({*names.get("gateway", ()), *names.get("adapters", ())} - {OURS})
    if not others:
        return None
    return (
        f"{', '.join(others)} shares this Python environment and also installs a package named "
        "gateway: the two overwrite each other's files. Give hermes-gateway an environment of "
        "its own (python3 -m venv), and reinstall the other product in its own"
    )
