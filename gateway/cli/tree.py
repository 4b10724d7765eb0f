"""The root of the commands: ``--profile`` anywhere on the line, groups that come and go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from gateway.cli.common import MISUSED, choose_profile, chosen_profile, fail, provider

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

HONCHO = "honcho"
PROFILE_HELP = "Work on this profile's home instead of the default one."


class Root(TyperGroup):
    """Every command takes ``--profile``; ``honcho`` is there while Honcho is the provider."""

    def __init__(self, **attrs: Any) -> None:
        super().__init__(**attrs)
        option = _profile_option()
        for command in _all_below(self.commands):
            command.params.append(option)

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names that can be called here and now, also for help."""
        return self.names(ctx, ctx.params.get("profile"))

    def names(self, ctx: Any, profile: str | None) -> list[str]:
        """Return the names that can be called on a profile."""
        known = super().list_commands(ctx)
        there = HONCHO in known and provider(profile) == HONCHO
        return [name for name in known if there or name != HONCHO]

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command; say why the ``honcho`` ones are not there, and what would help."""
        if args[:1] == [HONCHO]:
            found = provider(_profile_in(args) or ctx.params.get("profile"))
            # None: the settings cannot be read, which the command itself says best
            if found not in (HONCHO, None):
                fail(
                    f"honcho: these commands are there while Honcho is the memory provider; here "
                    f"it is {found}. To use a Honcho: hermes-gateway memory setup honcho",
                    MISUSED,
                )
        return super().resolve_command(ctx, args)


def command_names(ctx: typer.Context) -> dict[str, tuple[str, ...]]:
    """Return what can be called on the chosen profile: each command, and what is below it."""
    root: Any = ctx.find_root()
    if not isinstance(root.command, Root):
        return {}
    found = {
        name: root.command.commands[name] for name in root.command.names(root, chosen_profile())
    }
    return {name: tuple(getattr(each, "commands", ())) for name, each in found.items()}


def _all_below(commands: Mapping[str, Any]) -> Iterator[Any]:
    for command in commands.values():
        yield command
        if isinstance(command, TyperGroup):
            yield from _all_below(command.commands)


def _choose(value: str | None) -> None:
    if value is not None:
        choose_profile(value)


def _profile_option() -> Any:
    """Return the option as the library makes it: its classes differ from version to version."""
    carrier = typer.Typer(add_completion=False)

    @carrier.command()
    def carry(
        _profile: Annotated[
            str | None,
            typer.Option(
                "--profile",
                metavar="NAME",
                help=PROFILE_HELP,
                is_eager=True,
                expose_value=False,
                callback=_choose,
            ),
        ] = None,
    ) -> None:
        """Carry the option."""

    return typer.main.get_command(carrier).params[0]


def _profile_in(args: Sequence[str]) -> str | None:
    """Return the profile that is named behind a command, before it is known which."""
    for place, word in enumerate(args):
        if word == "--":
            break
        name, equals, value = word.partition("=")
        if name == "--profile":
            return value if equals else next(iter(args[place + 1 :]), None)
    return None
