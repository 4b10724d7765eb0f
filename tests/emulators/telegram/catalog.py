"""Closed lists of the Bot API: kinds of updates, reactions, chat actions."""

from __future__ import annotations

_KINDS = """
message edited_message channel_post edited_channel_post inline_query chosen_inline_result
callback_query shipping_query pre_checkout_query poll poll_answer my_chat_member chat_member
chat_join_request chat_boost removed_chat_boost message_reaction message_reaction_count
business_connection business_message edited_business_message deleted_business_messages
purchased_paid_media managed_bot guest_message
"""
KINDS = frozenset(_KINDS.split())
#: what a bot gets that never named ``allowed_updates``
DEFAULT_KINDS = KINDS - {"chat_member", "message_reaction", "message_reaction_count"}

_REACTIONS = """
👍 👎 ❤ 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴 😍 🐳 ❤️‍🔥
🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔 🤨 😐 🍓 🍾 💋 🖕 😈 😴 😭 🤓 👻 👨‍💻 👀 🎃 🙈 😇 😨
🤝 ✍ 🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿 🆒 💘 🙉 🦄 😘 💊 🙊 😎 👾 🤷‍♂️ 🤷 🤷‍♀️ 😡
"""
#: the only emoji that a bot may react with
REACTIONS = frozenset(_REACTIONS.split())

_CHAT_ACTIONS = """
typing upload_photo record_video upload_video record_voice upload_voice upload_document
choose_sticker find_location record_video_note upload_video_note
"""
CHAT_ACTIONS = frozenset(_CHAT_ACTIONS.split())
