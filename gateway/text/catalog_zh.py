"""Chinese texts (simplified). Markdown; ``catalog.text`` fills in the names in braces."""

from __future__ import annotations

TEXTS: dict[str, str | dict[str, str]] = {
    # --- commands
    "start": (
        "你好！像和朋友聊天一样给我写信就行：你告诉我的事我会记住，不用再说第二遍。\n\n"
        "发送 /help 可以看看我还会做什么。"
    ),
    "help": "直接给我发消息，或者使用下面的命令：\n\n{commands}",
    "cmd.start": "打个招呼",
    "cmd.help": "显示这份列表",
    "cmd.new": "开始新的对话；我对你的了解会保留",
    "cmd.stop": "停止我正在写的回答",
    "cmd.status": "我现在的状态",
    "cmd.whoami": "我把你认作谁，为什么",
    "cmd.trace": "你上一条消息的处理经过",
    "cmd.title": "查看或修改这个对话的标题",
    "cmd.memory": "我记下的关于你的内容",
    "cmd.search": "在我们的对话中搜索",
    "new.done": "我们重新开始。我仍然记得你，想聊些什么？",
    "new.nothing": "这已经是一个新的对话了，请说吧！",
    "stop.done": "好的，我停下了。",
    "stop.nothing": "我现在没有在写回答。",
    "unknown_command": "我不认识命令 `/{name}`。发送 /help 查看可用的命令。",
    "admin_only": "只有这个网关的管理员才能使用该命令。",
    "direct_only": "这件事我只在私聊中回答，请私下发给我。",
    # --- status
    "status.model": "模型：{model}",
    "status.no_model": "模型：还没有（设置模式）",
    "status.memory": "记忆：已开启，会话 `{session}`",
    "status.no_memory": "记忆：已关闭",
    "status.title": "对话：{title}",
    "status.idle": "没有等待回答的消息。",
    "status.queue": {"other": "有 {n} 条消息在等待回答。"},
    "status.platform": "{platform}：{state}",
    "state.starting": "正在启动",
    "state.connected": "已连接",
    "state.retrying": "连接中断，正在重试",
    "state.conflict": "另一个程序正在使用同一个机器人",
    "state.bad_credentials": "令牌未被接受",
    "state.stopped": "已停止",
    # --- whoami
    "whoami.account": "你在 {platform} 上是 `{user}`。",
    "whoami.peer": "我对你的记忆保存在 `{peer}` 这个名字下。",
    "whoami.pin": "在这里写消息的人都算作同一个人：网关是这样设置的。",
    "whoami.alias": "运营者把这个账号和该名字关联在了一起。",
    "whoami.link": "您于 {date} 自己把这个账号与 `{account}` 关联起来。",
    "whoami.record": "记录：`{source}`。",
    "whoami.since": "自 {date} 起就是这样。",
    "whoami.tried": "依次试过的规则：{rules}。",
    "whoami.prefix": "这个名字由你的账号 ID 和网关的前缀组成。",
    "whoami.raw": "这个名字由你的账号 ID 得来。",
    "whoami.peer_name": "这是为使用这个控制台的人设置的名字。",
    "whoami.session": "我在这里无法知道你是谁，所以这个名字只属于这个对话。",
    "whoami.unattributed": "我无法知道这是谁写的，所以在这里不会记住任何人的事。",
    "whoami.admin": "你是这个网关的管理员。",
    # --- trace
    "trace.head": "请求 `{turn}`：{state}",
    "trace.none": "这个对话里还没有可以追踪的内容。",
    "trace.unknown": "您没有 `{turn}` 这一轮。/trace 显示最近的一轮。",
    "trace.attempt": "（第 {number} 次尝试）",
    "trace.words": "您的话在记忆中：{state}",
    "trace.answer": "我的回答在记忆中：{state}",
    "kept.held": "等回答送达",
    "kept.due": "等待保存",
    "kept.sending": "正在保存",
    "kept.saved": "已保存",
    "kept.parked": "已搁置，服务不接受",
    "kept.skipped": "未保存：设置如此，或没有送达",
    "trace.step": "{time} {step}：{status}",
    "trace.peer": "记在 `{peer}` 名下（规则：{rung}）",
    "trace.part": "回答的第 {number} 部分：{state}",
    "turn.received": "已收到",
    "turn.admitted": "正在排队",
    "turn.running": "正在回答",
    "turn.answered": "已回答",
    "turn.settled": "已完成",
    "turn.refused": "未获准许",
    "turn.expired": "时间太久，不再回答",
    "turn.failed": "未能回答",
    "turn.dead": "已放弃",
    "part.waiting": "等待发送",
    "part.sending": "正在发送",
    "part.delivered": "已送达",
    "part.unknown": "已发送，但不确定是否送达",
    "part.failed": "未送达",
    # --- memory
    "memory.private": "我关于你的笔记只给你看：请在私聊中发送 /memory。",
    "memory.nobody": "在这里我认不出你是谁，所以没有关于你的笔记。",
    "memory.empty": "我还没有记下任何关于你的内容。",
    "memory.memory": "我的笔记（{usage}）：",
    "memory.user": "关于你（{usage}）：",
    "memory.entry": "{content}",
    "memory.waiting": "等你同意：",
    "memory.ask": "我想记下这个：",
    "memory.add": "在 {file} 中：“{content}”。",
    "memory.replace": "在 {file} 中，把“{old}”改为：“{content}”。",
    "memory.remove": "从 {file} 中删去：“{old}”。",
    "memory.decide": "请回复 `/memory approve {id}` 或 `/memory reject {id}`。",
    "choice.yes": "好",
    "choice.no": "不",
    "choice.foreign": "这个问题不是问你的，所以你的回答不算。",
    "choice.closed": "这个问题已经有答案了。",
    "memory.approved": "记下了。",
    "memory.rejected": "好的，我不会保留它。",
    "memory.unknown": "没有编号为 `{id}` 的内容在等待。发送 /memory 可以查看。",
    "memory.failed": "没有成功：{reason}",
    "memory.usage": "请发送 `/memory`、`/memory approve ID` 或 `/memory reject ID`。",
    # --- search
    "search.usage": "告诉我要找什么：`/search garden`。",
    "search.nothing": "没有找到“{words}”。",
    "search.hit": "{time}，{who}：{text}",
    "search.me": "我",
    "search.somebody": "某人",
    # --- link
    "cmd.link": "告诉我另一个账号也是您",
    "cmd.unlink": "把您关联的账号重新分开",
    "link.ask": (
        "想让我在另一个应用上也认得您，请在那里私信我：`/link` 加上下面的代码。我会在那里给您"
        "显示一个数字，并在这里向您要它；在此之前什么都不会合并。\n\n"
        "这意味着：两个账号对我来说是同一个人。我记得的任何一个账号的事，在两边都会知道；您在"
        "那边写的内容也会记在 `{peer}` 名下。用 `/unlink` 可以再分开。不想继续就发 "
        "`/link cancel`。"
    ),
    "link.code": "代码（15 分钟内有效）：`{code}`\n\n请不要给任何人看。",
    "link.number": "数字：`{number}`",
    "link.consent": (
        "您将与 `{account}`（{name}）成为同一个人。我记得的任何一个账号的事，在两边都会知道。"
        "\n\n如果您愿意，请看下面的数字，从另一个账号发送 `/link confirm` 和这个数字；"
        "如果不愿意：`/link cancel`。"
    ),
    "link.entered": (
        "`{account}`（{name}）输入了您的代码。如果是您本人，请在这里发送 `/link confirm` 和我"
        "在那边显示的数字。如果不是：`/link cancel`；什么都没有泄露。"
    ),
    "link.done": (
        "好了：从现在起，您和 `{account}`（{name}）对我来说是同一个人。想把之前只对其中一个账号"
        "说过的话也带过来，请发送 `/link bring`。用 `/unlink` 可以把账号再分开。"
    ),
    "link.bringing": "正在后台逐步把之前说过的话带过来。",
    "link.awaits": "两个账号都同意了。还需要这个网关的管理员同意：请把下面的代码交给管理员。",
    "link.approval": "交给管理员（三天内有效）：`/approve {code}`",
    "link.already": "这两个账号对我来说已经是同一个人了。",
    "link.pinned": "在这里写消息的所有人都已算作同一个人：网关就是这样设置的。",
    "link.operator": "管理这个网关的人已经指定了这两个账号各属于谁，只有他能更改。",
    "link.nobody": "我在这里认不出您是谁，所以没有什么可以关联。",
    "link.again": "您刚刚才问过。请等一分钟，再发送 /link。",
    "link.wrong": "没有账号在等这个代码。代码 15 分钟内有效。",
    "link.locked": "已输错 {n} 次代码。请一小时后再试。",
    "link.nothing": "没有等待关联的账号。发送 /link 开始。",
    "link.wrong_number": "数字不对。请在另一个应用上看清楚再试一次。",
    "link.failed": "数字第三次不对，没有关联任何账号。发送 /link 重新开始。",
    "link.cancelled": "好的，没有关联任何账号。",
    "unlink.nothing": "这个账号没有与其他账号关联。",
    "unlink.ask": (
        "这个账号与 `{accounts}` 是同一个人。分开之后，我在这里又只凭这个账号认识您；关联期间"
        "说过的话留在其他账号那边。如果您要这样，请发送 `/unlink confirm`。"
    ),
    "unlink.ask_all": (
        "与这个账号是同一个人的有：`{accounts}`。分开之后，关联期间说过的话留在这里，其他每个"
        "账号又各是一个人。如果您要这样，请发送 `/unlink confirm`。"
    ),
    "unlink.done": "已分开：`{accounts}` 与这个账号不再是同一个人。",
    "unlink.told": "与 `{account}` 的关联已解除：我在那边记得的事，这里不再知道，反过来也一样。",
    "approve.linked": "`{account}` 和 `{other}` 现在是同一个人。",
    "deny.linked": "`{account}` 和 `{other}` 仍是两个人，也没有人收到通知。",
    # --- own data
    "cmd.forget": "让我忘掉我所知道的关于您的一切",
    "cmd.export": "以文件形式得到我所知道的关于您的一切",
    "forget.ask": (
        "我会永久忘掉关于您（{accounts}）的一切：消息和回答 {messages} 条、会话 {sessions} 个、"
        "文件 {files} 个，以及我的笔记和所有结论。在群里只删去您自己的消息，别人的会留下。您的"
        "账号之间的关联也会消失；您仍然可以和我说话。\n\n如果您要这样，请发送 "
        "`/forget confirm`。"
    ),
    "forget.done": "已经忘掉了。您愿意的时候，我们重新开始。",
    "forget.pinned": (
        "这里的所有人都算作同一个人，所以那也会是别人的数据。请联系管理这个网关的人。"
    ),
    "export.nothing": "我们在这里还没有说过话，所以没有什么可发送的。",
    "export.begun": "正在整理，文件马上就来。",
    "export.done": "这是我所有关于您的资料。`talk.txt` 最便于阅读，其余供程序使用。",
    "export.elsewhere": (
        "我没法在这里发送文件。管理这个网关的人可以用 `hermes-gateway export {account}` 为您生成。"
    ),
    # --- title
    "title.done": "这个对话现在叫“{title}”。",
    "title.show": "这个对话叫“{title}”。",
    "title.none": "这个对话还没有标题。可以这样起一个：`/title 我的标题`。",
    "title.usage": "请写 `/title 我的标题`，最多 {limit} 个字符。",
    # --- pairing
    "pairing.request": (
        "你好！我还不认识你，需要由管理这个网关的人让你进来。请把这个代码交给他，"
        "一小时内有效：\n\n`{code}`\n\n对方用 `hermes-gateway pairing approve {code}` 批准。"
    ),
    "pairing.again": "你的请求还在等待批准。请稍等，或者请管理网关的人批准我给你的代码。",
    "pairing.full": "现在等待进入的人太多了，请稍后再试。",
    "pairing.approved": "你已获准进入，欢迎！随时给我写信。",
    "approve.done": "{name} 已获准进入。",
    "approve.wrong": "没有等待中的申请使用此代码。代码有效期为一小时。",
    "deny.done": "{name} 未获准进入，也没有人收到通知。",
    "cmd.approve": "凭代码批准一个人进入",
    "cmd.deny": "凭代码拒绝一个人",
    "cmd.who": "谁已获准进入，谁在等待",
    "who.waiting": "等待至 {time}：`{account}`",
    "who.granted": "已获准：`{account}`（{name}）",
    "who.admin": "管理员：`{account}`（{name}）",
    "who.nobody": "还没有人凭代码获准，也没有人在等待。",
    # --- answers that did not come
    "empty_answer": "对此我没有什么可说的。换个说法试试？",
    "empty_message": "我在。请把问题和我的名字写在一起，或者发送 /help。",
    "stopped": "*已停止。*",
    "expired": "这条消息到得太晚，我没有回答。如果仍然需要，请再发一次。",
    "too_fast": {
        "other": "我每分钟只收同一个人的 {n} 条消息。超出的内容我没有读，请稍后再发一次。",
    },
    "queue_full": "你写得比我回答得快。请给我一点时间，然后再发一次。",
    "cold": "*我现在无法访问记忆：这条回答没有用到我对你的了解。*",
    "recovered": "*抱歉让你久等：我中途重启了。*",
    "attachment_unsupported": "我还打不开这些内容：{names}。用文字告诉我是关于什么的，我来帮你。",
    # --- files
    "files.failed": "这些内容我没能用上：",
    "file.too_large": "{name}：太大（{size}）。我最多能接收 {limit}。",
    "file.gone": "{name}：它已经不在了。",
    "file.download": "{name}：没能取到，请再发一次。",
    "file.unreadable": "{name}（{size}）：我读不了这种文件。",
    "file.no_transcriber": "{name}：我在这里听不了录音，请用文字告诉我。",
    "file.transcription": "{name}：没能把录音写成文字，请用文字告诉我。",
    "file.silent": "{name}：我在里面没有听到话语。",
    "file.kind.image": "图片",
    "file.kind.voice": "语音消息",
    "file.kind.audio": "录音",
    "file.kind.video": "视频",
    "file.kind.document": "文档",
    "file.kind.sticker": "贴纸",
    "file.kind.other": "文件",
    "sent.too_large": "无法把 {name} 发给你：这个应用不接受这么大的文件。",
    "sent.forbidden": "无法把 {name} 发给你：我不能在这里发送文件。",
    "sent.gone": "无法把 {name} 发给你：文件已不再保存，请再向我要一次。",
    "sent.refused": "无法把 {name} 发给你：这个应用没有接收它。",
    "sent.unstored": "我本想随这条回答发一个文件，但没能保存下来。请再向我要一次。",
    "failed.blind": "我的模型看不见图片。用文字告诉我是关于什么的吧。",
    "failed.model": "我没能想出回答。请稍后再试。",
    "failed.credentials": (
        "我的模型不接受它的密钥，所以我无法回答。管理网关的人可以用 "
        "`hermes-gateway doctor` 了解详情。"
    ),
    "failed.rate_limited": "我的模型现在请求太多。请过一会儿再试。",
    "failed.timeout": "这花了太长时间，我放弃了。请再试一次，或者分成几步来问。",
    "failed.context": "这个对话对我来说太长了。发送 /new 开始新的对话；我对你的了解会保留。",
    "failed.unavailable": "现在联系不上我的模型。请几分钟后再试。",
    "failed.internal": "我这边出了故障，没能回答。故障已记录，请再试一次。",
    # --- set-up mode
    "setup.reply": (
        "[set-up mode: no model] 设置模式：你的消息已经收到并保存，但现在还没有可以回答的模型。"
        "要获得模型，请运行 `hermes-gateway model install`，或者把密钥（例如 "
        "`OPENAI_API_KEY`）写进 `.env` 文件后重新启动。"
    ),
    "setup.known": "到目前为止，我记下了这些关于你的内容：\n\n> {facts}",
    # --- the operator's page
    "web.revealed": "本网关的操作员查看了关于你的记忆内容。所述理由：{reason}",
}
