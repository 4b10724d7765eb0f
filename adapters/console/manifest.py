"""What is known of the console without importing its terminal library."""

from __future__ import annotations

from gateway.model.capabilities import Capabilities, Resend
from gateway.model.ids import PlatformName
from gateway.ports import Manifest
from gateway.settings.schema import ConsoleSettings

PLATFORM = PlatformName("console")

#: ``Resend.NEVER``: a process that died while it wrote cannot know what was seen, and the next
#: one writes to another terminal or pipe, where a second copy would be a stranger's answer.
CAPABILITIES = Capabilities(
    max_length=1_000_000,
    length_unit="points",
    resend=Resend.NEVER,
    has_users=False,
    preview=True,
    max_upload=1 << 40,
)

MANIFEST = Manifest(
    name=PLATFORM,
    capabilities=CAPABILITIES,
    settings=ConsoleSettings,
    secrets=(),
    factory="adapters.console.adapter:create",
)
