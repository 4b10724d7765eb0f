"""English texts. Markdown; ``catalog.text`` fills in the names in braces."""

from __future__ import annotations

TEXTS: dict[str, str | dict[str, str]] = {
    # --- commands
    "start": (
        "Hello! Write to me as you would to a person: I remember what you tell me, so "
        "you need not say it twice.\n\nSend /help to see what else I can do."
    ),
    "help": "Just write to me, or use one of these:\n\n{commands}",
    "cmd.start": "say hello",
    "cmd.help": "show this list",
    "cmd.new": "begin a new conversation; I keep what I know of you",
    "cmd.stop": "stop the answer I am writing",
    "cmd.status": "how I am doing right now",
    "cmd.whoami": "who I take you for, and why",
    "cmd.trace": "what became of your last message",
    "cmd.title": "show or change this conversation's title",
    "cmd.memory": "what I have noted about you",
    "cmd.search": "look for words in what we said",
    "new.done": "A fresh start. I still remember you; what would you like to talk about?",
    "new.nothing": "This conversation is already new. Go ahead!",
    "stop.done": "All right, I stopped.",
    "stop.nothing": "I am not writing anything at the moment.",
    "unknown_command": "I do not know the command `/{name}`. Send /help to see those I know.",
    "admin_only": "Only an admin of this gateway may use that command.",
    "direct_only": "I answer that only in a direct message. Please send it to me there.",
    # --- status
    "status.model": "Model: {model}",
    "status.no_model": "Model: none yet (set-up mode)",
    "status.memory": "Memory: on, session `{session}`",
    "status.no_memory": "Memory: off",
    "status.title": "Conversation: {title}",
    "status.idle": "Nothing is waiting for an answer.",
    "status.queue": {
        "one": "{n} message is waiting for an answer.",
        "other": "{n} messages are waiting for an answer.",
    },
    "status.platform": "{platform}: {state}",
    "state.starting": "starting",
    "state.connected": "connected",
    "state.retrying": "connection lost, trying again",
    "state.conflict": "another program uses the same bot",
    "state.bad_credentials": "the token is not accepted",
    "state.stopped": "stopped",
    # --- whoami
    "whoami.account": "On {platform} you are `{user}`.",
    "whoami.peer": "What I remember of you is kept under the name `{peer}`.",
    "whoami.pin": "Everybody who writes here counts as this one person: the gateway is set so.",
    "whoami.alias": "The operator has tied this account to that name.",
    "whoami.link": "You linked this account with `{account}` yourself, on {date}.",
    "whoami.record": "The record: `{source}`.",
    "whoami.since": "That has been so since {date}.",
    "whoami.tried": "Rules tried, in order: {rules}.",
    "whoami.prefix": "The name was made from your account's id and the gateway's prefix.",
    "whoami.raw": "The name was made from your account's id.",
    "whoami.peer_name": "It is the name that was set for whoever sits at this console.",
    "whoami.session": "I cannot tell who you are here, so the name belongs to this conversation.",
    "whoami.unattributed": (
        "I cannot tell which person wrote this, so I remember nothing about a person here."
    ),
    "whoami.admin": "You are an admin of this gateway.",
    # --- trace
    "trace.head": "Turn `{turn}`: {state}",
    "trace.none": "There is nothing to trace in this conversation yet.",
    "trace.unknown": "You have no turn `{turn}`. /trace shows your last one.",
    "trace.attempt": "(attempt {number})",
    "trace.words": "Your words at memory: {state}",
    "trace.answer": "My answer at memory: {state}",
    "kept.held": "waiting until the answer has arrived",
    "kept.due": "waiting to be saved",
    "kept.sending": "being saved",
    "kept.saved": "saved",
    "kept.parked": "set aside, the service does not take it",
    "kept.skipped": "not saved, by the settings or because it never arrived",
    "trace.step": "{time} {step}: {status}",
    "trace.peer": "Filed under `{peer}` (rule: {rung})",
    "trace.part": "Part {number} of the answer: {state}",
    "turn.received": "received",
    "turn.admitted": "waiting its turn",
    "turn.running": "being answered",
    "turn.answered": "answered",
    "turn.settled": "done",
    "turn.refused": "not admitted",
    "turn.expired": "too old to be answered",
    "turn.failed": "could not be answered",
    "turn.dead": "given up",
    "part.waiting": "waiting to be sent",
    "part.sending": "being sent",
    "part.delivered": "delivered",
    "part.unknown": "sent, but it is not known whether it arrived",
    "part.failed": "not delivered",
    # --- memory
    "memory.private": "My notes about you are for you alone: send /memory in a direct message.",
    "memory.nobody": "I cannot tell who you are here, so I keep no notes about you.",
    "memory.empty": "I have not noted anything about you yet.",
    "memory.memory": "My notes ({usage}):",
    "memory.user": "About you ({usage}):",
    "memory.entry": "{content}",
    "memory.waiting": "Waiting for your yes:",
    "memory.ask": "I would like to write this down:",
    "memory.add": "in {file}: “{content}”.",
    "memory.replace": "in {file}, where it says “{old}”: “{content}”.",
    "memory.remove": "no longer in {file}: “{old}”.",
    "memory.decide": "Answer `/memory approve {id}` or `/memory reject {id}`.",
    "choice.yes": "Yes",
    "choice.no": "No",
    "choice.foreign": "That question was for somebody else, so your answer does not count.",
    "choice.closed": "That question is answered already.",
    "memory.approved": "Written down.",
    "memory.rejected": "All right, I will not keep that.",
    "memory.unknown": "Nothing waits under `{id}`. Send /memory to see what does.",
    "memory.failed": "That did not work: {reason}",
    "memory.usage": "Send `/memory`, `/memory approve ID` or `/memory reject ID`.",
    # --- search
    "search.usage": "Tell me what to look for: `/search garden`.",
    "search.nothing": "I found nothing for “{words}”.",
    "search.hit": "{time}, {who}: {text}",
    "search.me": "I",
    "search.somebody": "somebody",
    # --- link
    "cmd.link": "tell me that another account is you too",
    "cmd.unlink": "take accounts that you linked apart again",
    "link.ask": (
        "To let me know you on another app as well, write to me there, in a direct message: "
        "`/link` and the code below. I will then show you a number there, and ask for it here; "
        "nothing is joined before that.\n\n"
        "What it means: both accounts are one person for me. What I remember of either of them I "
        "then know on both, and what you write there is kept under `{peer}` too. `/unlink` takes "
        "them apart again. `/link cancel` if you did not mean it."
    ),
    "link.code": "The code, good for 15 minutes: `{code}`\n\nShow it to nobody.",
    "link.number": "The number: `{number}`",
    "link.consent": (
        "You are about to become one person with `{account}` ({name}). What I remember of either "
        "account will then be known on both.\n\nIf you want that, read the number below and send "
        "`/link confirm` with it from the other account. If not: `/link cancel`."
    ),
    "link.entered": (
        "Your code was entered by `{account}` ({name}). If that is you, send me here "
        "`/link confirm` and the number that I show you there. If it is not: `/link cancel`; "
        "nothing has been shared."
    ),
    "link.done": (
        "Done: you and `{account}` ({name}) are one person for me from now on. What only one of "
        "them had told me before follows when you send `/link bring`. `/unlink` takes the "
        "accounts apart again."
    ),
    "link.bringing": "I bring along what was said before, bit by bit, in the background.",
    "link.awaits": (
        "Both accounts have agreed. An admin of this gateway has to say yes too: give them the "
        "code below."
    ),
    "link.approval": "For the admin, good for three days: `/approve {code}`",
    "link.already": "These two accounts are one person for me already.",
    "link.pinned": "Everybody here counts as one person already: the gateway is set so.",
    "link.operator": (
        "Whoever runs this gateway has said of both accounts whose they are. Only they can change "
        "that."
    ),
    "link.nobody": "I cannot tell who you are here, so there is nothing to link.",
    "link.again": "You asked a moment ago. Please wait a minute, then send /link again.",
    "link.wrong": "No account waits for this code. Codes are good for 15 minutes.",
    "link.locked": "Those were {n} wrong codes. Please try again in an hour.",
    "link.nothing": "Nothing waits to be linked. Send /link to begin.",
    "link.wrong_number": "That is not the number. Read it on the other app and try again.",
    "link.failed": "That was the third wrong number: nothing is linked. Send /link to begin anew.",
    "link.cancelled": "All right, nothing is linked.",
    "unlink.nothing": "This account is not linked to any other.",
    "unlink.ask": (
        "This account is one person with `{accounts}`. If you take it out, I know you here by "
        "this account alone again; what was said while they were linked stays with the others. "
        "Send `/unlink confirm` if you want that."
    ),
    "unlink.ask_all": (
        "One person with this account: `{accounts}`. If you take them apart, what was said while "
        "they were linked stays here, and each of the others is a person of its own again. Send "
        "`/unlink confirm` if you want that."
    ),
    "unlink.done": "Taken apart: `{accounts}` and this account are not one person any more.",
    "unlink.told": (
        "The link with `{account}` was taken away: what I remember there is not known here any "
        "more, nor the other way round."
    ),
    "approve.linked": "`{account}` and `{other}` are one person now.",
    "deny.linked": "`{account}` and `{other}` stay two. Nobody was told.",
    # --- own data
    "cmd.forget": "make me forget all that I know of you",
    "cmd.export": "get all that I know of you as a file",
    "forget.ask": (
        "I would forget all of you ({accounts}), for good: {messages} messages and answers in "
        "{sessions} sessions, {files} files, my notes and everything I concluded. In groups your "
        "own messages go, those of others stay. Links between your accounts go too; you may "
        "still talk to me.\n\nIf you want that, send `/forget confirm`."
    ),
    "forget.done": "It is forgotten. We begin anew whenever you like.",
    "forget.pinned": (
        "Everybody here counts as one person, so that would be the data of others, too. Please "
        "ask whoever runs this gateway."
    ),
    "export.nothing": "We have not talked here yet, so there is nothing to send.",
    "export.begun": "I am putting it together; the file comes in a moment.",
    "export.done": "All that I have of you. `talk.txt` reads best; the rest is for programs.",
    "export.elsewhere": (
        "I cannot send the file here. Whoever runs this gateway can make it for you with "
        "`hermes-gateway export {account}`."
    ),
    # --- title
    "title.done": "This conversation is now called “{title}”.",
    "title.show": "This conversation is called “{title}”.",
    "title.none": "This conversation has no title yet. Give it one with `/title My title`.",
    "title.usage": "Write `/title My title`, with at most {limit} characters.",
    # --- pairing
    "pairing.request": (
        "Hello! I do not know you yet, so somebody who runs this gateway has to let you in. "
        "Give them this code; it is good for one hour:\n\n`{code}`\n\n"
        "They approve it with `hermes-gateway pairing approve {code}`."
    ),
    "pairing.again": (
        "Your request is still waiting. Please have a little patience, or ask whoever runs "
        "this gateway to approve the code I gave you."
    ),
    "pairing.full": "Too many people are waiting to be let in just now. Please try again later.",
    "pairing.approved": "You have been let in. Welcome! Write to me whenever you like.",
    "approve.done": "{name} has been let in.",
    "approve.wrong": "No request that is waiting has this code. Codes are good for one hour.",
    "deny.done": "{name} stays outside. Nobody was told.",
    "cmd.approve": "let somebody in by their code",
    "cmd.deny": "turn somebody away by their code",
    "cmd.who": "who was let in, and who waits for it",
    "who.waiting": "waiting until {time}: `{account}`",
    "who.granted": "let in: `{account}` ({name})",
    "who.admin": "admin: `{account}` ({name})",
    "who.nobody": "Nobody has been let in by a code, and nobody waits for it.",
    # --- answers that did not come
    "empty_answer": "I have nothing to say to that. Try putting it differently?",
    "empty_message": "Yes? Write your question along with my name, or send /help.",
    "stopped": "*Stopped.*",
    "expired": "This message reached me too late. If it still matters, please send it again.",
    "too_fast": {
        "one": (
            "I take {n} message a minute from one person. What you wrote beyond it I have not "
            "read; please send it again a little later."
        ),
        "other": (
            "I take {n} messages a minute from one person. What you wrote beyond them I have not "
            "read; please send it again a little later."
        ),
    },
    "queue_full": "You write faster than I can answer. Give me a moment, then send it again.",
    "cold": "*My memory could not be reached just now: I answered without what I know of you.*",
    "recovered": "*Sorry for the wait: I was restarted in between.*",
    "attachment_unsupported": (
        "I cannot open this yet: {names}. Tell me in words what it is about, and I will help."
    ),
    # --- files
    "files.failed": "I could not use this:",
    "file.too_large": "{name}: too large ({size}). I can take up to {limit}.",
    "file.gone": "{name}: it is not there any more.",
    "file.download": "{name}: it could not be fetched. Please send it again.",
    "file.unreadable": "{name} ({size}): I cannot read this kind of file.",
    "file.no_transcriber": "{name}: I cannot listen to recordings here. Please write it to me.",
    "file.transcription": "{name}: I could not make out the recording. Please write it to me.",
    "file.silent": "{name}: I heard no words in it.",
    "file.kind.image": "the picture",
    "file.kind.voice": "the voice message",
    "file.kind.audio": "the recording",
    "file.kind.video": "the video",
    "file.kind.document": "the document",
    "file.kind.sticker": "the sticker",
    "file.kind.other": "the file",
    "sent.too_large": (
        "I could not send you {name}: this app does not take files as large as that."
    ),
    "sent.forbidden": "I could not send you {name}: I may not send files here.",
    "sent.gone": "I could not send you {name}: it is not kept any more. Ask me for it again.",
    "sent.refused": "I could not send you {name}: this app did not take it.",
    "sent.unstored": (
        "I meant to send you a file with this, but I could not store it. Please ask me again."
    ),
    "failed.blind": "My model cannot see pictures. Tell me in words what it is about.",
    "failed.model": "I could not come up with an answer. Please try again in a moment.",
    "failed.credentials": (
        "My model does not accept its key, so I cannot answer. Whoever runs this gateway can "
        "find out more with `hermes-gateway doctor`."
    ),
    "failed.rate_limited": "My model is asked too much at the moment. Please try again shortly.",
    "failed.timeout": "That took too long and I gave up. Please try again, or in smaller steps.",
    "failed.context": (
        "This conversation has grown too long for me. Send /new to begin a fresh one; I keep "
        "what I know of you."
    ),
    "failed.unavailable": "My model cannot be reached now. Please try again in a few minutes.",
    "failed.internal": (
        "Something broke on my side and I could not answer. It has been noted; please try again."
    ),
    # --- set-up mode
    "setup.reply": (
        "[set-up mode: no model] Your message arrived and is stored, but there is no model yet "
        "that could answer it. To get one, run `hermes-gateway model install`, or put a key "
        "such as `OPENAI_API_KEY` into the file `.env` and start again."
    ),
    "setup.known": "This is what I have stored of you so far:\n\n> {facts}",
    # --- the operator's page
    "web.revealed": (
        "An operator of this gateway has looked at what is remembered of you. The reason given: "
        "{reason}"
    ),
}
