"""``config check``: read the configuration as ``run`` would, and say all that is wrong."""

from __future__ import annotations

import typer

from gateway.cli.common import MISUSED, JsonFlag, chosen_profile, friendly, home, note, show

group = typer.Typer(help="The configuration.", no_args_is_help=True)


@group.command()
def check(as_json: JsonFlag = False) -> None:
    """Check config.yaml, honcho.json and .env; every fault names file, line, key and remedy."""
    with friendly():
        from gateway import app
        from gateway.model.errors import ConfigurationError

        try:
            found = app.load(home(), profile=chosen_profile())
            problems: tuple[str, ...] = tuple(app.start_problems(found))
            warnings, unused, files = found.warnings, found.unused, found.files
        except ConfigurationError as error:
            problems, warnings, unused, files = error.problems, (), (), ()

        result = {
            "ok": not problems,
            "problems": list(problems),
            "warnings": list(warnings),
            "unused": list(unused),
            "files": [str(path) for path in files],
        }

        def human() -> None:
            for path in files:
                typer.echo(f"read     {path}")
            for line in unused:
                typer.echo(f"not used {line}")
            for line in warnings:
                note(f"warning: {line}")
            for line in problems:
                note(line)
            if not problems:
                typer.echo("The configuration is fine.")

        show(result, as_json=as_json, human=human)
        if problems:
            raise typer.Exit(MISUSED)
