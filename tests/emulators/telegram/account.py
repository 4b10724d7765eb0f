"""Methods about the bot itself: who it is, its commands, its updates, its chats."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from tests.emulators.telegram.errors import ApiError, bad_request
from tests.emulators.telegram.updates import MOST_IN_ONE_ANSWER

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.emulators.telegram.methods import Call

Json = dict[str, Any]

LONGEST_POLL = 50
_WEBHOOK_ACTIVE = (
    "Conflict: can't use getUpdates method while webhook is active; "
    "use deleteWebhook to delete the webhook first"
)


def get_me(call: Call) -> Json:
    return call.bot.user | {
        "can_join_groups": True,
        "can_read_all_group_messages": True,
        "supports_inline_queries": False,
        "can_connect_to_business": False,
        "has_main_web_app": False,
        "has_topics_enabled": True,
    }


async def get_updates(call: Call) -> list[Json]:
    """Wait for updates; the only method that takes its time."""
    args = call.args
    if call.bot.webhook is not None:
        raise ApiError(409, _WEBHOOK_ACTIVE)
    kinds = args.structure("allowed_updates")
    if isinstance(kinds, list):
        call.bot.updates.allow(kinds)
    limit = args.number("limit", MOST_IN_ONE_ANSWER)
    return await call.bot.updates.poll(
        args.number("offset"),
        min(max(limit, 1), MOST_IN_ONE_ANSWER),
        min(max(args.number("timeout"), 0), LONGEST_POLL),
    )


def set_webhook(call: Call) -> bool:
    url, secret = call.args.text("url"), call.args.text("secret_token")
    if not re.fullmatch(r"[A-Za-z0-9_-]{0,256}", secret):
        raise bad_request("secret token contains unallowed characters")
    if url and not url.startswith(("https://", "http://127.0.0.1:")):
        raise bad_request("bad webhook: An HTTPS URL must be provided for webhook")
    kinds = call.args.structure("allowed_updates")
    if isinstance(kinds, list):
        call.bot.updates.allow(kinds)
    _forget(call)
    call.world.webhooks.set(call.bot, url, secret)
    return True


def delete_webhook(call: Call) -> bool:
    _forget(call)
    call.world.webhooks.set(call.bot, "", "")
    return True


def _forget(call: Call) -> None:
    if call.args.flag("drop_pending_updates"):
        call.bot.updates.clear()


def get_webhook_info(call: Call) -> Json:
    hook = call.bot.webhook
    info = {
        "url": "" if hook is None else hook.url,
        "has_custom_certificate": False,
        "pending_update_count": len(call.bot.updates.pending),
    }
    if hook is not None and hook.error_at:
        info |= {"last_error_date": hook.error_at, "last_error_message": hook.error}
    return info


def get_chat(call: Call) -> Json:
    chat = call.world.find_chat(call.bot, call.args.text("chat_id"))
    gifts = "unlimited_gifts limited_gifts unique_gifts premium_subscription gifts_from_channels"
    return chat.facts | {
        "accent_color_id": 0,
        "max_reaction_count": 11,
        "accepted_gift_types": dict.fromkeys(gifts.split(), False),
    }


def answer_callback_query(call: Call) -> bool:
    if call.args.text("callback_query_id") not in call.world.callbacks:
        raise bad_request("query is too old and response timeout expired or query ID is invalid")
    return True


def set_my_commands(call: Call) -> bool:
    commands = call.args.structure("commands")
    if not isinstance(commands, list):
        raise bad_request("expected an Array of BotCommand")
    if len(commands) > 100:
        raise bad_request("BOT_COMMANDS_TOO_MUCH")
    for command in commands:
        _check_command(command)
    call.bot.commands[_scope(call)] = commands
    return True


def get_my_commands(call: Call) -> list[Json]:
    return call.bot.commands.get(_scope(call), [])


def delete_my_commands(call: Call) -> bool:
    call.bot.commands.pop(_scope(call), None)
    return True


def _check_command(command: Json) -> None:
    if not re.fullmatch(r"[a-z0-9_]{1,32}", command.get("command", "").removeprefix("/")):
        raise bad_request("BOT_COMMAND_INVALID")
    if not 1 <= len(command.get("description", "")) <= 256:
        raise bad_request("BOT_COMMAND_DESCRIPTION_INVALID")


def _scope(call: Call) -> tuple[str, str]:
    scope = call.args.structure("scope") or {"type": "default"}
    return json.dumps(scope, sort_keys=True), call.args.text("language_code")


METHODS: dict[str, Callable[[Call], Any]] = {
    "getme": get_me,
    "getupdates": get_updates,
    "setwebhook": set_webhook,
    "deletewebhook": delete_webhook,
    "getwebhookinfo": get_webhook_info,
    "getchat": get_chat,
    "answercallbackquery": answer_callback_query,
    "setmycommands": set_my_commands,
    "getmycommands": get_my_commands,
    "deletemycommands": delete_my_commands,
}
