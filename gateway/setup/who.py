"""Asks who talks to this gateway, where people can: the identity keys in one question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.setup import identity, judging
from gateway.setup.asking import NO, YES, Accounts, Choice, Line, Option, Pairs, yes_or_no
from gateway.setup.drafts import Draft
from gateway.setup.identity import Keys, Who
from gateway.setup.naming import ask_name
from gateway.setup.seen import offered
from gateway.setup.session import account

if TYPE_CHECKING:
    from gateway.policy.runtime_id import RuntimeId
    from gateway.setup.session import Session

_OPTIONS = (
    Option(Who.JUST_ME, "Just me: every account is mine and has one memory"),
    Option(Who.ME_AND_OTHERS, "Me and others: my accounts are one person, others are their own"),
    Option(Who.ONLY_OTHERS, "Only others: each account is a person of its own"),
    Option(Who.KEEP, "Leave it as it is", letter="s"),
    Option(Who.EDIT, "Edit the three keys directly", letter="e"),
)
_UNPINNED = (
    "So far every account was {name}. From now on each account is a person of its own, and what "
    "was said and learned stays with {name}: nothing moves. Your own accounts go on with that "
    "memory only if they are made {name}'s."
)
_SHARED = (
    "Several accounts or groups are let in. With this answer all of them are {name} and share "
    "one memory."
)


def ask_who(session: Session) -> None:
    """Ask and take over the answer; nothing is asked while no platform is connected."""
    if not session.connected:
        return
    keys = keys_of(session)
    session.asker.say(f"Now: {_told(keys)}.")
    question = Choice(
        "who.answer",
        "Who talks to this gateway?",
        _OPTIONS,
        Who.KEEP if _settled(keys) else Who.JUST_ME,
        must=True,
    )
    ways = {
        Who.JUST_ME: _just_me,
        Who.ME_AND_OTHERS: _me_and_others,
        Who.ONLY_OTHERS: _only_others,
        Who.EDIT: _edit,
    }
    if (way := ways.get(Who(session.asker.choose(question)))) is not None:
        way(session, keys)


def keys_of(session: Session) -> Keys:
    """Return the identity keys as they are with the answers so far."""
    honcho = session.now.honcho
    return Keys(
        honcho.pin_user_peer,
        honcho.peer_name or "",
        honcho.user_peer_aliases,
        honcho.runtime_peer_prefix,
        session.now.settings.conversations.audience,
    )


def _settled(keys: Keys) -> bool:
    return bool(keys.pin or keys.aliases or keys.prefix)


def _told(keys: Keys) -> str:
    if keys.pin:
        return f"every account is {keys.peer_name}"
    parts = ["each account is a person of its own"]
    if keys.aliases:
        parts.append(f"{len(keys.aliases)} of them named by userPeerAliases")
    if keys.prefix:
        parts.append(f"with {keys.prefix} in front")
    return ", ".join(parts)


def _just_me(session: Session, _keys: Keys) -> None:
    name = ask_name(session, needed=True)
    if not name:
        return
    access = session.now.settings.access
    many = sum(map(len, access.allow.values())) > 1 or any(access.places.values())
    if many or any(access.allow_all.values()):
        session.asker.say(_SHARED.format(name=name))
    session.apply(identity.just_me(keys_of(session)))


def _me_and_others(session: Session, keys: Keys) -> None:
    name = ask_name(session, needed=True)
    if not name:
        return
    mine = _my_accounts(session)
    if not mine:
        session.asker.say(
            "No account is yours yet, so yours will be persons of their own too. Write to the "
            "bot once and run this again: your account is offered then."
        )
    session.apply(identity.me_and_others(keys_of(session), mine))
    if keys.pin:
        session.tell(_UNPINNED.format(name=name))


def _only_others(session: Session, keys: Keys) -> None:
    mine = _after_unpinning(session, keys) if keys.pin else []
    session.apply(identity.only_others(keys_of(session), _ask_prefix(session, keys), mine))


def _ask_prefix(session: Session, keys: Keys) -> str:
    question = Line(
        "who.prefix",
        f"Put something in front of the names made from ids? {identity.OFFERED_PREFIX} makes "
        "telegram_7654321 of 7654321; - means nothing",
        default=keys.prefix,
        empty="nothing",
        check=lambda text: None if text == "-" else judging.prefix(text),
    )
    answer = session.asker.line(question)
    return "" if answer == "-" else answer


def _after_unpinning(session: Session, keys: Keys) -> list[RuntimeId]:
    """Warn, and offer to keep the owner's accounts together."""
    name = keys.peer_name
    session.tell(_UNPINNED.format(name=name))
    text = f"Make your own accounts {name}'s, so that they go on with that memory?"
    if not yes_or_no(session.asker, "who.pooled", text, default=True):
        return []
    return _my_accounts(session)


def _my_accounts(session: Session) -> list[RuntimeId]:
    keys, found = keys_of(session), []
    for manifest in session.connected:
        platform = manifest.name
        known = {*session.accounts_of(platform), *_aliased(keys, platform)}
        mine = tuple(sorted(_written(one) for one in keys.mine(known)))
        question = Accounts(
            f"who.my_ids.{platform}",
            f"Which accounts on {platform.capitalize()} are yours?",
            offered(session.seen, platform, _let_in(session, platform)),
            default=mine,
            check=judging.account(platform),
        )
        found += [account(platform, one) for one in session.asker.accounts(question)]
    return found


def _let_in(session: Session, platform: str) -> list[str]:
    """Return the ids that are let in by name; of admins, who need not be listed twice, too."""
    access = session.now.settings.access
    named = {one.partition(":")[2] for one in access.admins if one.startswith(f"{platform}:")}
    return sorted(named | access.allow.get(platform, frozenset()))


def _aliased(keys: Keys, platform: str) -> list[RuntimeId]:
    own = (key for key in keys.aliases if key.startswith(f"{platform}:"))
    return [account(platform, key) for key in own]


def _written(one: RuntimeId) -> str:
    return one.qualified.partition(":")[2]


def _edit(session: Session, keys: Keys) -> None:
    asker, agent = session.asker, session.now.honcho.ai_peer
    options = (Option(YES, "true"), Option(NO, "false"))
    question = Choice(
        "who.pinUserPeer",
        "pinUserPeer: is every account peerName?",
        options,
        YES if keys.pin else NO,
    )
    pin = asker.choose(question) == YES
    if pin and not ask_name(session, needed=True):
        return
    platforms = [one.name for one in session.platforms]
    pairs = Pairs(
        "who.userPeerAliases",
        "userPeerAliases: which account is which person?",
        keys.aliases,
        judging.alias(platforms, agent),
    )
    aliases = asker.pairs(pairs)
    line = Line(
        "who.runtimePeerPrefix",
        "runtimePeerPrefix: what stands in front of names made from ids? - means nothing",
        default=keys.prefix,
        empty="nothing",
        check=lambda text: None if text == "-" else judging.prefix(text),
    )
    prefix = asker.line(line)
    prefix = "" if prefix == "-" else prefix
    session.apply(identity.edited(keys_of(session), pin=pin, aliases=aliases, prefix=prefix))
    if keys.pin and not pin:
        mine = _after_unpinning(session, keys)
        pooled = identity.me_and_others(keys_of(session), mine)
        session.apply(Draft(honcho=pooled.honcho))
