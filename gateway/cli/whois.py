"""``whois``: whom the gateway takes an account for, and why."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import typer

from gateway.cli.common import MISUSED, JsonFlag, fail, friendly, home, loaded, show


def whois(
    platform: Annotated[str, typer.Argument(help="telegram, console, …")],
    account: Annotated[str, typer.Argument(metavar="ID", help="The platform's id, as digits.")],
    place: Annotated[
        str | None, typer.Option("--in", help="A group's id: as if it were said there.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Say which peer an account's messages go to, by which rung, and what was tried before.

    Nothing is changed, and the account need not have written yet.
    """
    with friendly():
        result = _resolve(platform, account.strip(), place)
        show(result, as_json=as_json, human=lambda: _explain(platform, account, result))


def _resolve(platform: str, account: str, place: str | None) -> dict[str, Any]:
    from gateway import app
    from gateway.ops.whois import Question, answer, ask, background, in_home_team

    manifests = {manifest.name: manifest for manifest in app.MANIFESTS}
    manifest = next((found for name, found in manifests.items() if name == platform), None)
    if manifest is None:
        fail(f"{platform}: not a platform; choose one of {', '.join(sorted(manifests))}", MISUSED)
    if not account:
        fail("ID is empty; for example: hermes-gateway whois telegram 7654321", MISUSED)
    if manifest.secrets:  # the console's people have no ids
        account = _id(account, platform)
    configuration = loaded()
    bots = manifest.accounts(configuration.secrets)
    question = Question(manifest, account, place)
    if bots:
        question = replace(question, bot=bots[0])
    rules, database = app.rules_of(configuration), home().database
    question = in_home_team(question, rules, database)
    identity = ask(question, rules, database, stand_in=app.stand_in(configuration))
    found = background(question, identity, database)
    return answer(identity, configuration.sources) | found


def _id(text: str, platform: str) -> str:
    from gateway.settings.accounts import check_id
    from gateway.settings.scalars import RefusedError

    try:
        return check_id(text, platform)
    except RefusedError as refused:
        fail(f"ID {text[:60]!r} {refused.problem}", MISUSED)


def _explain(platform: str, account: str, result: dict[str, Any]) -> None:
    typer.echo(f"{platform}:{account} is {result['peer']} (rung: {result['rung']})")
    if result["recorded_in"]:
        typer.echo(f"  recorded in {result['recorded_in']}")
    if change := result["changed"]:
        typer.echo(f"  set {_time(change['at'])} by {change['by']} (change {change['change']})")
    if link := result["link"]:
        typer.echo(f"  linked by its person with {link['with']}, {_time(link['since'])}")
    if result["since"]:
        typer.echo(f"  filed so since {_time(result['since'])}")
    typer.echo("")
    for step in result["steps"]:
        typer.echo(f"  {'→' if step['matched'] else '·'} {step['rung']:<13} {step['detail']}")


def _time(iso: str) -> str:
    return f"{iso[:10]} {iso[11:16]} UTC"
