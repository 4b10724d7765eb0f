"""Following edits of the configuration while the gateway runs."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from gateway.app.configuration import load, rules_of, stand_in
from gateway.app.desks import people_desk
from gateway.model.errors import ConfigurationError, StoreError
from gateway.ops import health, logs
from gateway.settings.changes import changed
from gateway.settings.watch import watch
from gateway.store import audit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gateway.pipeline.rules import Current
    from gateway.ports import Clock
    from gateway.settings.home import Home
    from gateway.settings.read import Loaded
    from gateway.store.engine import Store, Tx

log = structlog.get_logger(__name__)

_NEW_PERSONS = (
    "who is who was changed by hand: new messages go to the new persons, what was said before "
    "stays where it is; hermes-gateway aliases history shows the change, people rehome lets "
    "memory follow"
)


@dataclass(frozen=True, slots=True)
class Followed:
    """Whose configuration is followed, and who learns of a change."""

    home: Home
    current: Current
    store: Store
    clock: Clock
    #: for ``sessionStrategy: per-session``
    fresh: str
    #: learns new secrets; None: nobody logs
    redactor: logs.Redactor | None

    async def run(self, present: Loaded) -> None:
        """Exchange the rules after each edit, until cancelled; a bad one is said and not used.

        Which settings were changed is audited, and never to what.
        """

        async def read_again() -> None:
            nonlocal present
            try:
                loaded = await asyncio.to_thread(load, self.home, profile=present.settings.profile)
            except ConfigurationError as error:
                log.error("settings.kept", action="reload", problems=list(error.problems))
                await self._keep(error.problems)
                return
            self._exchange(loaded)
            names, present = changed(present, loaded), loaded
            await self._tell(names)
            await self._notice(loaded)

        await self._notice(present)

        paths = (self.home.config, self.home.env, *self.home.honcho_candidates)
        await watch(paths, read_again, known=present.digests)

    def _exchange(self, loaded: Loaded) -> None:
        if self.redactor is not None:
            self.redactor.learn(logs.secrets_of(loaded))
        self.current.stand_in = stand_in(loaded)
        self.current.rules = rules_of(loaded, fresh=self.fresh)
        log.info("settings.reloaded", action="reload")

    async def _notice(self, loaded: Loaded) -> None:
        """Write down who is who now, where somebody changed that by hand."""
        await self._keep(())
        try:
            desk = people_desk(self.home, self.store, profile=loaded.settings.profile)
            if (change := await desk.notice()) is not None:
                keys = sorted({edit.path[0] for edit in change.edits})
                log.warning("identity.edited", action="people", keys=keys, what=_NEW_PERSONS)
        except (ConfigurationError, StoreError) as error:
            log.warning("identity.unnoticed", action="reload", error=str(error))

    async def _keep(self, problems: Sequence[str]) -> None:
        """Let ``status`` say why an edit is not followed; () when the files are."""
        now = self.clock.now()
        try:
            await self.store.write(lambda tx: health.keep_settings(tx, problems, now=now))
        except StoreError as error:
            log.error("settings.unsaid", action="reload", error=str(error))

    async def _tell(self, names: list[str]) -> None:
        def record(tx: Tx) -> None:
            told, now = {"actor": "file", "subject": "settings"}, self.clock.now()
            audit.record(tx, "settings.changed", **told, now=now, keys=names)

        if not names:
            return
        try:
            await self.store.write(record)
        except StoreError as error:
            log.error("settings.unaudited", action="reload", error=str(error))
