"""Connects platforms: tokens that the platform itself was asked about, and who may write."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway.model.errors import CredentialsError, PlatformError
from gateway.settings.nodes import Items, Node, Scalar
from gateway.setup import checks, judging
from gateway.setup.asking import Accounts, Line, Option
from gateway.setup.drafts import Draft
from gateway.setup.seen import offered

if TYPE_CHECKING:
    from gateway.ports import Manifest
    from gateway.setup.session import Session

AGAIN, UNCHECKED, LEAVE = "again", "unchecked", "leave"


@dataclass(frozen=True, slots=True)
class Token:
    """A secret of a platform and where it is found."""

    id: str
    variable: str
    text: str
    #: asked only in this ``mode`` of the platform, "" for every one
    mode: str = ""


TOKENS: dict[str, tuple[Token, ...]] = {
    "telegram": (
        Token("token", "TELEGRAM_BOT_TOKEN", "Bot token? @BotFather gives one for /newbot"),
    ),
    "discord": (
        Token(
            "token",
            "DISCORD_BOT_TOKEN",
            "Bot token? It is on the page Bot of your application at "
            "https://discord.com/developers; switch on Message Content Intent there",
        ),
    ),
    "slack": (
        Token(
            "bot_token",
            "SLACK_BOT_TOKEN",
            "Bot token (xoxb-...)? It is on the app's page OAuth & Permissions",
        ),
        Token(
            "app_token",
            "SLACK_APP_TOKEN",
            "App-level token (xapp-...) with the scope connections:write? It is on the app's "
            "page Basic Information",
            mode="socket",
        ),
        Token(
            "signing_secret",
            "SLACK_SIGNING_SECRET",
            "Signing secret? It is on the app's page Basic Information",
            mode="http",
        ),
    ),
}


def ask_platforms(session: Session) -> None:
    """Ask for each platform in turn whether it is to be connected, or changed."""
    for manifest in session.platforms:
        there = manifest in session.connected
        name = manifest.name.capitalize()
        text = f"{name} is connected. Change that?" if there else f"Connect {name}?"
        if session.asker.enter(f"platforms.{manifest.name}", text, default=False):
            _ask_platform(session, manifest)


def _ask_platform(session: Session, manifest: Manifest) -> None:
    secrets = _ask_tokens(session, manifest)
    if secrets is None:
        return
    draft = Draft(env=dict(secrets))
    settings = session.now.settings.platforms[manifest.name]
    if getattr(settings, "enabled", "auto") is False:
        draft.config["platforms", manifest.name, "enabled"] = "auto"
    session.apply(draft)
    _warn_of_environment(session, secrets)
    _ask_access(session, manifest)


def _ask_tokens(session: Session, manifest: Manifest) -> dict[str, str] | None:
    """Return the secrets that change, None when the platform is to be left as it is."""
    while True:
        given = _type_tokens(session, manifest)
        if given is None:
            return None
        verdict = _judge(session, manifest, given)
        if verdict != AGAIN:
            return given if verdict != LEAVE else None


def _type_tokens(session: Session, manifest: Manifest) -> dict[str, str] | None:
    given = {}
    mode = getattr(session.now.settings.platforms[manifest.name], "mode", "")
    for token in TOKENS[manifest.name]:
        if token.mode and token.mode != mode:
            continue
        stored = session.now.secrets.get(token.variable, "")
        line = Line(
            f"platforms.{manifest.name}.{token.id}",
            token.text,
            default=stored,
            secret=True,
            must=not stored,
            check=judging.secret,
        )
        value = session.asker.line(line)
        if not value:
            return None
        if value != stored:
            given[token.variable] = value
    return given


def _judge(session: Session, manifest: Manifest, given: dict[str, str]) -> str:
    """Return ``AGAIN`` or ``LEAVE``, anything else for tokens that are taken."""
    question = f"platforms.{manifest.name}.{TOKENS[manifest.name][0].id}"
    secrets = {**session.now.secrets, **given}
    settings = session.now.settings.platforms[manifest.name]
    options = (Option(AGAIN, "Type it again"), Option(LEAVE, "Leave this platform as it was"))
    if problems := manifest.check(settings, secrets):
        return session.asker.try_again(question, "\n".join(problems), options)
    if not session.checking:
        return UNCHECKED
    session.asker.say(f"Asking {manifest.name.capitalize()} ...")
    try:
        names = checks.bots(manifest, settings, secrets)
    except CredentialsError as error:
        return session.asker.try_again(question, str(error), options)
    except PlatformError as error:
        unchecked = Option(UNCHECKED, "Save it without having been asked")
        return session.asker.try_again(question, str(error), (*options, unchecked))
    session.tell(f"{manifest.name.capitalize()} takes the token: {', '.join(names)}.")
    return ""


def _warn_of_environment(session: Session, secrets: dict[str, str]) -> None:
    for variable, value in secrets.items():
        if session.bench.environ.get(variable, value) != value:
            session.tell(
                f"{variable} is set in this process's environment, which goes before .env: "
                "unset it there, or the new one has no effect."
            )


# --- who may write -----------------------------------------------------------------------------


def _ask_access(session: Session, manifest: Manifest) -> None:
    platform, name = manifest.name, manifest.name.capitalize()
    access = session.now.settings.access
    allowed = sorted(access.allow.get(platform, ()))
    now = f" Now: {', '.join(allowed)}." if allowed else ""
    question = Accounts(
        f"platforms.{platform}.allow",
        f"Who may write to the bot on {name}? Whoever else writes gets a pairing code.{now}",
        offered(session.seen, platform),
        check=judging.account(platform),
    )
    more = [one for one in session.asker.accounts(question) if one not in allowed]
    tree, draft = session.config_tree(), Draft()
    if more:
        key = ("access", "allow", platform)
        draft.config[key] = [*_listed(tree.get(*key)), *more]
    draft.add(_ask_admins(session, manifest, [*allowed, *more]))
    session.apply(draft)


def _ask_admins(session: Session, manifest: Manifest, let_in: list[str]) -> Draft:
    platform, name = manifest.name, manifest.name.capitalize()
    present = session.now.settings.access.admins
    own = sorted(one for one in present if one.startswith(f"{platform}:"))
    now = f" Now: {', '.join(own)}." if own else ""
    question = Accounts(
        f"platforms.{platform}.admins",
        f"Who is admin on {name}, lets others in and uses admin commands?{now}",
        offered(session.seen, platform, let_in),
        check=judging.account(platform),
    )
    chosen = (f"{platform}:{one}" for one in session.asker.accounts(question))
    more = [one for one in chosen if one not in present]
    draft = Draft()
    if more:
        listed = _listed(session.config_tree().get("access", "admins"))
        draft.config["access", "admins"] = [*listed, *more]
    return draft


def _listed(node: Node | None) -> list[str]:
    """Return what a list of the file holds, without what the environment adds to it."""
    if isinstance(node, Items):
        return [item.text for item in node.items if isinstance(item, Scalar)]
    return [node.text] if isinstance(node, Scalar) and not node.null else []
