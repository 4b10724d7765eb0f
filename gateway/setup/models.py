"""Chooses the model that answers: a provider and its key, a server, or one on this machine."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from gateway.agent.choice import PROVIDERS, choose, first_for_chat
from gateway.agent.weights import SMALL, WeightStore, default_folder
from gateway.model.errors import ConfigurationError
from gateway.settings.splice import REMOVE, Remove
from gateway.setup import checks, judging
from gateway.setup.asking import Choice, Line, Option, yes_or_no
from gateway.setup.drafts import Draft
from gateway.setup.platforms import AGAIN, LEAVE, UNCHECKED

if TYPE_CHECKING:
    from gateway.settings.dialects import Value
    from gateway.setup.session import Session

KEEP, SERVER, LOCAL, AUTO = "keep", "server", "local", "auto"
_SERVER_KEY = "OPENAI_API_KEY"
#: more names of a server's list are not said
_MOST_NAMES = 12


def ask_model(session: Session) -> None:
    """Ask which model answers, and for what it needs."""
    answers, told = _present(session)
    session.asker.say(f"Model now: {told}")
    options = (
        Option(KEEP, "Leave it as it is"),
        Option("openai", "OpenAI, with a key"),
        Option("anthropic", "Anthropic, with a key"),
        Option("google", "Google, with a key"),
        Option(SERVER, "A server with OpenAI's API: Ollama, llama.cpp, vLLM, LM Studio, ..."),
        Option(LOCAL, f"A small model on this machine: {SMALL.name}, {_size()}, needs no key"),
        Option(AUTO, "Whatever is found first: a key, a server on this machine, a local model"),
    )
    default = KEEP if answers else LOCAL
    question = Choice("model.source", "Which model shall answer?", options, default)
    source = session.asker.choose(question)
    if source in PROVIDERS:
        _hosted(session, source)
    elif source == SERVER:
        _server(session)
    elif source == LOCAL:
        _local(session)
    elif source == AUTO:
        session.apply(_model(session, provider="auto", base_url=REMOVE, name=REMOVE))
    if source != KEEP:
        session.tell(f"Model then: {_present(session)[1]}")


def _present(session: Session) -> tuple[bool, str]:
    """Return whether a model answers with the answers so far, and which and why."""
    loaded = session.now
    try:
        choice = asyncio.run(
            choose(loaded.settings.model, loaded.secrets, WeightStore(default_folder()))
        )
    except ConfigurationError as error:
        return False, "; ".join(error.problems)
    return choice.answers, choice.describe()[0]


def _size() -> str:
    return f"{SMALL.size / 1e6:.0f} MB, {SMALL.licence}"


def _model(session: Session, **values: Value | Remove) -> Draft:
    """Return a draft of those keys of ``model`` that change."""
    table, draft = session.config_tree(), Draft()
    settings = session.now.settings.model
    for key, value in values.items():
        there = table.get("model", key) is not None
        if there if isinstance(value, Remove) else getattr(settings, key) != value:
            draft.config["model", key] = value
    return draft


def _hosted(session: Session, name: str) -> None:
    provider = PROVIDERS[name]
    stored = session.now.secrets.get(provider.secret, "")
    line = Line(
        "model.key",
        f"Key ({provider.secret})?",
        default=stored,
        secret=True,
        must=not stored,
        check=judging.secret,
    )
    key = session.asker.line(line)
    present = session.now.settings.model
    same = present.provider == name and present.name
    model = session.asker.line(
        Line("model.name", "Which model?", default=same or provider.default_model)
    )
    draft = _model(session, provider=name, base_url=REMOVE, name=model)
    if key and key != stored:
        draft.env[provider.secret] = key
    session.apply(draft)


# --- a server ----------------------------------------------------------------------------------


def _server(session: Session) -> None:
    present = session.now.settings.model
    found = checks.servers() if session.checking else {}
    for url, names in found.items():
        session.asker.say(f"Answers on this machine: {url}: {_listed(names)}")
    while True:
        line = Line(
            "model.base_url",
            "Address of the server, with /v1 where it has that?",
            default=present.base_url or "",
            suggestion=next(iter(found), ""),
            must=present.base_url is None,
            check=judging.address,
        )
        url = session.asker.line(line)
        if not url:
            return
        key = _server_key(session)
        listed = checks.models(url, key) if session.checking else []
        verdict = UNCHECKED if listed is not None else _no_answer(session, url)
        if verdict != AGAIN:
            break
    if verdict != LEAVE:
        _take_server(session, url, key, listed or [])


def _server_key(session: Session) -> str:
    stored = session.now.secrets.get(_SERVER_KEY, "")
    note = "the stored one is sent to this server" if stored else "none"
    line = Line(
        "model.key",
        f"Key of the server ({_SERVER_KEY})?",
        default=stored,
        empty=note,
        secret=True,
        check=judging.secret,
    )
    return session.asker.line(line)


def _no_answer(session: Session, url: str) -> str:
    options = (
        Option(AGAIN, "Type it again"),
        Option(UNCHECKED, "Save it all the same"),
        Option(LEAVE, "Leave the model as it was"),
    )
    problem = f"no server with OpenAI's API answers at {url} with this key"
    return session.asker.try_again("model.base_url", problem, options)


def _take_server(session: Session, url: str, key: str, names: list[str]) -> None:
    if names:
        session.asker.say(f"Its models: {_listed(names)}")
    present = session.now.settings.model.name or ""
    likely = present if present in names or not names else first_for_chat(names) or ""
    line = Line(
        "model.name",
        "Which model?",
        default=likely,
        empty="the first one that it lists",
    )
    model = session.asker.line(line)
    draft = _model(session, provider="openai", base_url=url, name=model or REMOVE)
    if key != session.now.secrets.get(_SERVER_KEY, ""):
        draft.env[_SERVER_KEY] = key
    session.apply(draft)


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:_MOST_NAMES]) or "no model loaded"
    more = len(names) - _MOST_NAMES
    return f"{shown} and {more} more" if more > 0 else shown


# --- on this machine ---------------------------------------------------------------------------


def _local(session: Session) -> None:
    store = WeightStore(default_folder())
    if store.selected() is None:
        text = f"Fetch {SMALL.name} ({_size()}, {SMALL.origin}) once everything is saved?"
        if yes_or_no(session.asker, "model.install", text, default=True):
            session.install = SMALL.name
    session.apply(_model(session, provider="local", base_url=REMOVE, name=REMOVE))
