"""Aliases and people: seen before, made once, remembered, undone; nobody's edit is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import sqlalchemy as sa

from gateway.model.errors import ConfigurationError, StoreError
from gateway.people import Applied, Author, Change
from gateway.policy.identity_change import PEER_NAME, PIN
from gateway.settings import rewrite
from gateway.settings.files import digest
from gateway.store import identity_changes
from gateway.store.audit_tables import audit
from gateway.store.people import Account
from tests.integration.people.town import MIRA, MIRA_TOO, OPERATOR, SLACK, TOBIAS, Town

if TYPE_CHECKING:
    from gateway.people import Gathering, Preview


def _moves(preview: Preview) -> dict[str, tuple[str, str]]:
    return {one.account: (one.before, one.after) for one in preview.moves}


def _gathered(found: tuple[Gathering, ...]) -> dict[str, tuple[str, ...]]:
    return {one.peer: one.others for one in found}


async def test_two_accounts_become_one_person_in_the_file_alone(town: Town) -> None:
    await town.wrote(MIRA, name="Mira", language="ru")
    await town.wrote(MIRA_TOO, name="mira.sol")
    change = town.service.aliased(
        {"telegram:700100200": "mira", " discord:812345678901234567": "mira"}
    )
    preview = await town.service.preview(change)
    assert _moves(preview) == {
        "telegram:700100200": ("700100200", "mira"),
        "discord:812345678901234567": ("812345678901234567", "mira"),
    }
    assert _gathered(preview.merges) == {"mira": ("700100200", "812345678901234567")}
    assert (preview.splits, preview.awaited, preview.problems) == ((), (), ())
    assert not town.file.exists()
    applied = await town.service.apply(change, expected=preview.revision, author=OPERATOR)
    assert isinstance(applied, Applied)
    assert town.written()["hosts"]["hermes"]["userPeerAliases"] == {
        "telegram:700100200": "mira",
        "discord:812345678901234567": "mira",
    }
    (person, _console) = await town.service.people()
    assert (person.peer, person.names, person.language) == ("mira", ("Mira", "mira.sol"), "ru")
    assert {one.recorded_in.rpartition(":")[2] for one in person.accounts} == {"5", "6"}
    assert [one.peer for one in await town.service.people("MIRA.S")] == ["mira"]
    assert await town.service.people("nobody") == ()


async def test_the_same_change_twice_does_nothing(town: Town) -> None:
    assert (await town.set(telegram_42="mira")).id == 1
    before = digest(town.file)
    assert (await town.set(telegram_42="mira")).id is None
    assert digest(town.file) == before
    assert len(await town.service.history()) == 1


async def test_an_edit_keeps_every_other_byte(town: Town) -> None:
    text = (
        '{\n  "x-mine": [1,  2.50e1],\n  "userPeerAliases": {\n    "telegram:42": "mira"\n  }\n}\n'
    )
    town.file.write_text(text)
    await town.set(telegram_7="otto")
    wanted = text.replace('"mira"\n', '"mira",\n    "telegram:7": "otto"\n')
    assert town.file.read_text() == wanted
    await town.set(telegram_7=None)
    assert town.file.read_text() == text


async def test_undo_takes_back_what_was_changed_and_nothing_else(town: Town) -> None:
    town.honcho(peerName="owner", userPeerAliases={"telegram:42": "mira"})
    first = await town.set(telegram_42="otto", telegram_7="otto")
    await town.set(telegram_8="tobias")
    assert first.id is not None
    undone = await town.service.undo(first.id, author=OPERATOR)
    assert isinstance(undone, Applied)
    assert town.written()["userPeerAliases"] == {"telegram:42": "mira", "telegram:8": "tobias"}
    newest, _, oldest = await town.service.history()
    assert (newest.undoes, oldest.undone_by, oldest.actor, oldest.reason) == (
        first.id,
        newest.id,
        "operator",
        "because",
    )
    with pytest.raises(ConfigurationError, match="undone already"):
        await town.service.undo(first.id, author=OPERATOR)
    with pytest.raises(ConfigurationError, match="no change 99"):
        await town.service.undo(99, author=OPERATOR)


async def test_undo_asks_before_it_takes_a_later_change_with_it(town: Town) -> None:
    first = await town.set(telegram_42="mira")
    await town.set(telegram_42="otto")
    assert first.id is not None
    conflict = await town.service.undo(first.id, author=OPERATOR)
    assert not isinstance(conflict, Applied)
    assert [edit.after for edit in conflict.touched] == ["otto"]
    assert town.written()["hosts"]["hermes"]["userPeerAliases"] == {"telegram:42": "otto"}
    sure = await town.service.undo(first.id, author=OPERATOR, expected=conflict.preview.revision)
    assert isinstance(sure, Applied)
    assert town.written()["hosts"]["hermes"]["userPeerAliases"] == {}


async def test_the_second_editor_is_told_and_loses_nothing(town: Town) -> None:
    mine = town.service.aliased({"telegram:42": "mira"})
    seen = await town.service.preview(mine)
    other = town.another()
    await other.apply(
        other.aliased({"telegram:42": "otto", "telegram:7": "tobias"}),
        expected=seen.revision,
        author=Author("page: ana", "a call"),
    )
    conflict = await town.collide(mine, seen.revision)
    (record,) = conflict.since
    assert (record.actor, record.reason, len(record.edits)) == ("page: ana", "a call", 2)
    assert [(edit.key, edit.after) for edit in conflict.touched] == [
        ('userPeerAliases["telegram:42"]', "otto")
    ]
    again = await town.service.apply(mine, expected=conflict.preview.revision, author=OPERATOR)
    assert isinstance(again, Applied)
    assert town.written()["hosts"]["hermes"]["userPeerAliases"] == {
        "telegram:42": "mira",
        "telegram:7": "tobias",
    }


async def test_an_edit_by_hand_is_noticed_once_and_is_a_conflict(town: Town) -> None:
    town.honcho(userPeerAliases={"telegram:42": "mira"})
    mine = town.service.aliased({"telegram:7": "otto"})
    seen = await town.service.preview(mine)
    await town.service.notice()
    town.honcho(userPeerAliases={"telegram:42": "tobias"}, contextTokens=900)
    conflict = await town.collide(mine, seen.revision)
    assert [(one.actor, one.edits[0].after) for one in conflict.since] == [("file", "tobias")]
    assert await town.service.notice() is None
    (record,) = await town.service.history()
    undone = await town.service.undo(record.id, author=OPERATOR)
    assert isinstance(undone, Applied)
    assert town.written()["userPeerAliases"] == {"telegram:42": "mira"}


async def test_another_key_of_the_file_is_no_conflict(town: Town) -> None:
    town.honcho(contextTokens=1)
    mine = town.service.aliased({"telegram:7": "otto"})
    seen = await town.service.preview(mine)
    town.honcho(contextTokens=2)
    result = await town.service.apply(mine, expected=seen.revision, author=OPERATOR)
    assert isinstance(result, Applied)
    assert town.written()["contextTokens"] == 2


async def test_what_a_killed_command_wrote_is_known_again(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed between the file and its history: the change is ours, not somebody's by hand."""
    await town.set(telegram_1="x")

    def killed(*_args: object, **_rest: object) -> None:
        raise StoreError("killed")

    with monkeypatch.context() as patched:
        patched.setattr(identity_changes, "confirm", killed)
        with pytest.raises(StoreError):
            await town.set(telegram_42="mira")
    assert [one.actor for one in await town.service.history()] == ["operator", "operator"]


async def test_what_could_not_be_written_leaves_no_history(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_args: object, **_rest: object) -> str:
        raise ConfigurationError("honcho.json: cannot be written")

    monkeypatch.setattr(rewrite, "edit_honcho", refuse)
    with pytest.raises(ConfigurationError, match="cannot be written"):
        await town.set(telegram_42="mira")
    assert await town.service.history() == ()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (Change.of_aliases({"telegram:42": "hermes"}), "one name in the memory service"),
        (Change({PEER_NAME: "hermes"}), "one name in the memory service"),
        (Change({PIN: True}), "peerName is empty"),
    ],
)
async def test_what_would_stop_the_start_is_refused(
    town: Town, change: Change, problem: str
) -> None:
    seen = await town.service.preview(change)
    assert problem in seen.problems[0]
    with pytest.raises(ConfigurationError, match=problem):
        await town.service.apply(change, expected=seen.revision, author=OPERATOR)
    assert not town.file.exists()


@pytest.mark.parametrize(
    ("key", "name", "problem"),
    [
        ("telegram:@mira", "mira", "names are no ids"),
        ("telegram:4.2", "mira", "account id"),
        ("*", "mira", "allow_all"),
        ("telegramm:42", "mira", "no platform is called"),
        ("telegram:42", "  ", "name is empty"),
        ("telegram:42", "mi\u200bra", "invisible|control|character"),
    ],
)
def test_what_cannot_be_meant_is_refused(town: Town, key: str, name: str, problem: str) -> None:
    with pytest.raises(ConfigurationError, match=problem):
        town.service.aliased({key: name})


async def test_merge_takes_every_account_along(town: Town) -> None:
    town.honcho(userPeerAliases={"telegram:700100200": "mira", "slack:T0AAA:U0ZZZ": "mira"})
    await town.wrote(MIRA, MIRA_TOO, TOBIAS)
    await town.set(**{"discord_812345678901234567": "700100201"})
    applied = await town.apply(await town.service.merging("700100201", "mira"))
    assert _moves(applied.preview) == {
        "telegram:700100201": ("700100201", "mira"),
        "discord:812345678901234567": ("700100201", "mira"),
    }
    assert town.written()["userPeerAliases"] == {
        "telegram:700100200": "mira",
        "slack:T0AAA:U0ZZZ": "mira",
        "discord:812345678901234567": "mira",
        "telegram:700100201": "mira",
    }
    with pytest.raises(ConfigurationError, match="no person 700100201"):
        await town.service.merging("700100201", "mira")


async def test_merge_of_the_console_renames_its_person(town: Town) -> None:
    town.honcho(peerName="owner")
    await town.wrote(MIRA)
    await town.apply(await town.service.merging("owner", "700100200"))
    assert town.written()["peerName"] == "700100200"
    (person,) = await town.service.people()
    assert {one.key for one in person.accounts} == {"console", "telegram:700100200"}
    assert person.owner


@pytest.mark.parametrize(
    ("aliases", "account", "to", "after"),
    [
        ({"telegram:700100200": "mira"}, "telegram:700100200", None, "700100200"),
        ({"700100200": "mira"}, "telegram:700100200", None, "700100200"),
        (
            {"telegram:700100200": "mira", "700100200": "mira"},
            "telegram:700100200",
            None,
            "700100200",
        ),
        ({"telegram:700100200": "mira"}, "telegram:700100200", "ana", "ana"),
        ({"discord:812345678901234567": "700100200"}, "telegram:700100200", "ana", "ana"),
    ],
)
async def test_split(
    town: Town, aliases: dict[str, str], account: str, to: str | None, after: str
) -> None:
    town.honcho(userPeerAliases={**aliases, "discord:812345678901234567": "mira"} | aliases)
    await town.wrote(MIRA, MIRA_TOO)
    assert await town.whose(MIRA) == await town.whose(MIRA_TOO)
    await town.apply(await town.service.splitting(account, to))
    assert await town.whose(MIRA) == after
    assert await town.whose(MIRA_TOO) in ("mira", "700100200")
    assert await town.whose(MIRA) != await town.whose(MIRA_TOO)


async def test_what_cannot_be_split_says_how_else(town: Town) -> None:
    town.honcho(userPeerAliases={"discord:812345678901234567": "700100200"})
    await town.wrote(MIRA, MIRA_TOO)
    for account, problem in {
        "telegram:700100200": "--to NAME",
        "telegram:5": "has not written",
        "console": "peerName",
    }.items():
        with pytest.raises(ConfigurationError, match=problem):
            await town.service.splitting(account)


async def test_a_pin_is_named_and_lifted_for_everybody(town: Town) -> None:
    town.honcho(pinUserPeer=True, peerName="mira")
    await town.wrote(MIRA, TOBIAS)
    for refused in (town.service.merging("mira", "x"), town.service.splitting("telegram:7")):
        with pytest.raises(ConfigurationError, match="split everyone"):
            await refused
    applied = await town.apply(await town.service.unpinning())
    assert _gathered(applied.preview.splits) == {"mira": ("700100200", "700100201", "mira")}
    assert {one.kind for one in applied.preview.remains} == {"card", "files"}
    assert "pinUserPeer" not in town.written()
    with pytest.raises(ConfigurationError, match="memory of their own"):
        await town.service.unpinning()


async def test_bots_are_somebody_only_by_alias(town: Town) -> None:
    bot = town.service.aliased({"telegram:77": "helper"})
    await town.wrote(Account("telegram", "", "77"), kind="bot")
    await town.wrote(Account("discord", "", "812345678901234000"), kind="webhook")
    assert [one.key for one in await town.service.accounts()] == ["console"]
    await town.apply(bot)
    assert [one.kind for one in await town.service.accounts()] == ["bot", "operator"]


async def test_the_longest_form_of_a_slack_account_names_it(town: Town) -> None:
    await town.wrote(SLACK, alternatives=("W0CCC",))
    await town.set(slack_W0CCC="mira")
    (alias,) = await town.service.aliases()
    assert alias.accounts == ("slack:T0AAA:U0BBB",)
    assert await town.whose(SLACK) == "mira"
    applied = await town.apply(await town.service.splitting("slack:T0AAA:U0BBB"))
    assert applied.preview.moves[0].after == await town.whose(SLACK)
    assert await town.whose(SLACK) != "mira"


async def test_changes_are_audited_without_accounts(town: Town) -> None:
    await town.set(telegram_42="mira")
    rows = await town.store.read(lambda conn: conn.execute(sa.select(audit)).all())
    assert [(row.action, row.actor) for row in rows] == [("identity.changed", "operator")]
    assert "42" not in str(rows[0].detail)
