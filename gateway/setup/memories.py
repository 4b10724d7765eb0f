"""Chooses where memory is kept and how it works."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

from gateway.memory.clients import ENVIRONMENTS
from gateway.model.errors import MemoryServiceError
from gateway.settings.honcho import KEYS
from gateway.settings.honcho_schema import ReasoningLevel
from gateway.setup import checks, connection, judging
from gateway.setup.asking import Choice, Line, Option
from gateway.setup.connection import KEY_VARIABLE, LOCAL_DEFAULT, Connections, Where
from gateway.setup.drafts import Draft
from gateway.setup.platforms import AGAIN, LEAVE, UNCHECKED
from gateway.text.clean import nfc

if TYPE_CHECKING:
    from gateway.settings.dialects import Value
    from gateway.setup.session import Session

KEEP = "keep"
_PROVIDER = ("memory", "provider")
_OPTIONS = {
    Where.BUILTIN: Option(Where.BUILTIN, "In this gateway: nothing else is needed"),
    Where.CLOUD: Option(Where.CLOUD, "Honcho in the cloud, with a key"),
    Where.SERVER: Option(Where.SERVER, "A Honcho server of your own, with its address"),
}


def ask_memory(session: Session, *, only_honcho: bool = False, thorough: bool = False) -> None:
    """Ask where memory is kept; ``thorough``: also how the agent is called there and works."""
    places = [one for one in Where if not (only_honcho and one is Where.BUILTIN)]
    now = present(session)
    session.asker.say(f"Memory now: {_OPTIONS[now].label.partition(':')[0].lower()}.")
    question = Choice(
        "memory.place",
        "Where shall memory be kept?",
        tuple(_OPTIONS[one] for one in places),
        now if now in places else _connections(session).present,
    )
    place = Where(session.asker.choose(question))
    if place is Where.BUILTIN:
        if now is not Where.BUILTIN:
            session.apply(Draft(config={_PROVIDER: "builtin"}))
    elif not _ask_service(session, place):
        return
    if thorough:
        _ask_names(session, workspace=place is not Where.BUILTIN)
        _ask_tuning(session)


def present(session: Session) -> Where:
    """Return where memory is kept with the answers so far."""
    if session.now.settings.memory.provider != "honcho":
        return Where.BUILTIN
    return _connections(session).present


def _connections(session: Session) -> Connections:
    in_file = session.originals.contents[session.bench.home.env].text
    return connection.read(
        session.honcho_tree(),
        session.now.hosts,
        session.now.honcho,
        variable=session.now.secrets.get(KEY_VARIABLE, ""),
        variable_in_file=KEY_VARIABLE in in_file and KEY_VARIABLE not in session.bench.environ,
    )


# --- the service -------------------------------------------------------------------------------


def _ask_service(session: Session, place: Where) -> bool:
    """Ask for address and key until the service takes them; False: it stays as it was."""
    while True:
        url, key = _type_cloud(session) if place is Where.CLOUD else _type_server(session)
        if not (key if place is Where.CLOUD else url):
            return False
        verdict = _judge(session, place, url, key)
        if verdict != AGAIN:
            break
    if verdict == LEAVE:
        return False
    now = _connections(session)
    if place is Where.CLOUD:
        draft = connection.use_cloud(now, key)
    else:
        draft = connection.use_server(now, url, key)
    if session.config_tree().get(*_PROVIDER) is None or present(session) is Where.BUILTIN:
        draft.config[_PROVIDER] = "honcho"
    if session.now.honcho.enabled is False:
        draft.honcho["enabled",] = True
    session.apply(draft)
    return True


def _type_cloud(session: Session) -> tuple[str, str]:
    stored = _connections(session).cloud
    line = Line(
        "memory.key",
        "Honcho API key? https://app.honcho.dev makes one",
        default=stored.key,
        secret=True,
        must=not stored.key,
        check=judging.secret,
    )
    return stored.url or ENVIRONMENTS["production"], session.asker.line(line)


def _type_server(session: Session) -> tuple[str, str]:
    stored = _connections(session).server
    address = Line(
        "memory.base_url",
        "Address of the server?",
        default=stored.url,
        suggestion=LOCAL_DEFAULT,
        must=not stored.url,
        check=judging.address,
    )
    url = session.asker.line(address)
    token = Line(
        "memory.token",
        "Its token (JWT)? - means none",
        default=stored.key,
        empty="none",
        secret=True,
        check=judging.secret,
    )
    key = session.asker.line(token)
    return url, "" if key == "-" else key


def _judge(session: Session, place: Where, url: str, key: str) -> str:
    if not session.checking:
        return UNCHECKED
    session.asker.say(f"Asking {url} ...")
    try:
        checks.memory(url, key, session.now.honcho.workspace)
    except MemoryServiceError as error:
        options = (
            Option(AGAIN, "Type it again"),
            Option(UNCHECKED, "Save it all the same: what is said waits for the service"),
            Option(LEAVE, "Leave memory as it was"),
        )
        question = "memory.key" if place is Where.CLOUD else "memory.base_url"
        return session.asker.try_again(question, str(error), options)
    session.tell(f"The memory service at {url} answers and takes the key.")
    return ""


# --- how it works ------------------------------------------------------------------------------


def _ask_names(session: Session, *, workspace: bool) -> None:
    honcho = session.now.honcho
    asked = [("agent", "aiPeer", "Name of the agent in memory?", honcho.ai_peer)]
    if workspace:
        text = "Workspace? Agents in one workspace share what is known of people"
        asked.append(("workspace", "workspace", text, honcho.workspace))
    for answer, key, text, now in asked:
        judge = judging.person(honcho.peer_name or "" if key == "aiPeer" else "")
        line = Line(f"memory.{answer}", text, default=now, check=judge)
        value = nfc(session.asker.line(line).strip())
        if value != now:
            session.apply(Draft(honcho={(key,): value}))


@dataclass(frozen=True, slots=True)
class _Tuning:
    """One key of honcho.json. Words are offered; a number may be typed where ``number``."""

    key: str
    text: str
    words: tuple[str, ...] = ()
    number: bool = False


_TUNING = (
    _Tuning(
        "observationMode",
        "Whose view is kept? directional: everybody's of everybody; unified: one for all",
        ("directional", "unified"),
    ),
    _Tuning(
        "writeFrequency",
        "When is what was said written? async: at once in the background; turn: before the turn "
        "ends; session: at its end; or every so many turns",
        ("async", "turn", "session"),
        number=True,
    ),
    _Tuning(
        "recallMode",
        "How does the model get at memory? context: it is given; tools: it asks; hybrid: both",
        ("hybrid", "context", "tools"),
    ),
    _Tuning("contextTokens", "Most tokens of recalled context?", ("none",), number=True),
    _Tuning("dialecticCadence", "Reason about the person every how many turns?", number=True),
    _Tuning(
        "dialecticReasoningLevel",
        "How thoroughly?",
        get_args(ReasoningLevel),
    ),
    _Tuning(
        "sessionStrategy",
        "What is one session on the console?",
        ("per-directory", "per-repo", "per-session", "global"),
    ),
)


def _ask_tuning(session: Session) -> None:
    text = "Change how memory works: what is recalled, how often, how thoroughly?"
    if not session.asker.enter("memory.tuning", text, default=False):
        return
    draft = Draft()
    for one in _TUNING:
        now = getattr(session.now.honcho, KEYS[one.key])
        value = _ask_one(session, one, "none" if now is None else str(now))
        if value != now:
            draft.honcho[one.key,] = value
    session.apply(draft)


def _ask_one(session: Session, one: _Tuning, now: str) -> Value:
    question = f"memory.tuning.{one.key}"
    if not one.number:
        options = tuple(Option(word, word) for word in one.words)
        return session.asker.choose(Choice(question, one.text, options, now))
    wants = " or ".join((*one.words, "a number"))

    def check(text: str) -> str | None:
        fine = text in one.words or judging.count(text) is None
        return None if fine else f"is not {wants}"

    answer = session.asker.line(Line(question, f"{one.text} ({wants})", default=now, check=check))
    if answer == "none":
        return None
    return int(answer) if answer.isdigit() else answer
