"""Carrying out a move from OpenClaw, as ``honcho migrate`` has shown it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from gateway.cli.common import home, loaded
from gateway.cli.honcho.changes import audit, change, write_beside
from gateway.cli.service import NO_SERVICE, ask, service_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from gateway.memory.seed import Handed, SeedRules
    from gateway.ops.moving import Step
    from gateway.ports import Memory
    from gateway.settings.read import Loaded
    from gateway.store.engine import Tx


def carry_out(todo: Sequence[Step], before: Loaded) -> list[str]:
    """Do the steps; return a line for each that could not be done."""
    from gateway.ops.moving import Act
    from gateway.settings import files
    from gateway.settings.rewrite_env import edit_env

    place = home()
    secrets = {step.key[0]: step.value for step in todo if step.key[:1] == ("HONCHO_API_KEY",)}
    settings = {
        step.key: step.value for step in todo if step.act is Act.SET and step.key[0] not in secrets
    }
    if secrets:
        edit_env(place.env, before.digests.get(place.env, files.MISSING), secrets)
    if settings:
        change(settings)
    for step in todo:
        _copy(step)
    audit(place, "settings.migrated", subject="settings", steps=len(todo))
    return _upload([step for step in todo if step.act is Act.UPLOAD])


def _copy(step: Step) -> None:
    from gateway.settings import files
    from gateway.settings.replace import rewrite

    if step.target is not None and step.source is not None:
        text = step.source.text
        rewrite(step.target, files.MISSING, lambda _: text)


def _upload(steps: Sequence[Step]) -> list[str]:
    """Give the service what has no place in our files, each content once."""
    from gateway import app
    from gateway.memory.seed import note as note_seed
    from gateway.model.errors import MemoryServiceError
    from gateway.ops.clock import SystemClock

    configuration = loaded()
    rules = app.rules_of(configuration).seed
    now = SystemClock().now()
    left: list[str] = []
    given: list[Handed] = []
    for step in steps:
        handed = _handed(step, rules)
        if isinstance(handed, str):
            left.append(f"{step.what}: {handed}")
            continue
        try:
            ask(configuration, _giving(handed, rules))
            given.append(handed)
        except MemoryServiceError as error:
            left.append(f"{step.what}: {error}")

    def record(tx: Tx) -> None:
        for handed in given:
            note_seed(tx, handed.source, handed.record, now=now)

    if given:
        _make_database(configuration)
        write_beside(home(), record)
    return left


def _make_database(configuration: Loaded) -> None:
    """Have a database, so that the next time nothing is given twice."""
    from gateway import app

    if not home().database.exists():
        asyncio.run(app.open_store(home(), configuration).close())


def _handed(step: Step, rules: SeedRules) -> Handed | str:
    """Return what is uploaded, or why it is not."""
    from gateway.memory.seed import hand_down

    capture = rules.capture
    of_agent = step.about == "agent"
    if service_of(loaded()) in NO_SERVICE:
        return f"the memory service is {service_of(loaded())}"
    if reason := capture.skip_agent if of_agent else capture.skip_user:
        return f"{reason} says that it stays here"
    if step.source is None or (not of_agent and rules.owner is None):
        return "nobody is the owner: hermes-gateway honcho peer --user NAME"
    name = f"openclaw-{step.source.path.name}"
    return hand_down(name, step.source.text, rules, owner=None if of_agent else rules.owner)


def _giving(handed: Handed, rules: SeedRules) -> Callable[[Memory], Awaitable[int]]:
    from gateway.memory.seed import upload
    from gateway.ops.clock import SystemClock

    async def give(memory: Memory) -> int:
        return await upload(
            memory,
            handed.source,
            handed.text,
            handed.record,
            limit=rules.capture.part_limit,
            now=SystemClock().now(),
        )

    return give
