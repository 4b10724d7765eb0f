"""Markdown for tests: inputs that broke converters, and a strategy that makes more of them.

Every word ``w<number>x`` of a document is visible text: ``words`` of the source and of what a
reader sees must be the same, in the same order.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hypothesis import strategies as st

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
ZWJ_EMOJI = (
    f"{FAMILY} \U0001f1e9\U0001f1ea 1\ufe0f\u20e3 \U0001f44d\U0001f3fd \U0001f600 \U0001d54f"
)

_WORD = re.compile(r"w\d+x")

NASTY: list[tuple[str, str]] = [
    (
        "nested lists",
        "- w1x\n  - w2x\n    1. w3x\n    2. w4x\n       - w5x\n- w6x\n\n10. w7x\n11. w8x",
    ),
    (
        "table with escaped pipe",
        "| w1x | w2x |\n|:--|--:|\n| a\\|w3x | `w4x` | w5x |\n| 王小明 | w6x |\n| w7x",
    ),
    (
        "fence with language",
        "w1x\n```python title='t'\ndef w2x():\n    return \"`w3x`\"\n```\nw4x",
    ),
    ("unclosed fence", "w1x\n\n```js\nlet w2x = 1;\n  w3x();\n"),
    (
        "underscores and dunder",
        "__init__ w1x snake_case_w2x __w3x__ _w4x_ ___w5x___ __very w6x__ a__b__c",
    ),
    (
        "links",
        '[w1x](https://e.org/a_(b) "title") <https://e.org/w2x> [w3x](src/w4x.py)'
        " [w5x](javascript:w6x) ![](https://e.org/w7x)",
    ),
    ("emoji", f"**{ZWJ_EMOJI}** w1x _{FAMILY}_ `w2x {FAMILY}`"),
    ("long line", "w1x " + "lorem ipsum dolor sit amet " * 280 + "w2x"),
    (
        "html in text",
        "<div class='a'>w1x</div> <br> w2x <!-- w3x --> &lt;w4x&gt; <script>w5x</script>\n\n"
        "<p>\nw6x\n</p>",
    ),
    ("headings", "# w1x\nw2x\n## w3x **w4x** ##\n\nw5x\n===\n\n####### w6x"),
    ("right to left", "שלום **w1x עולם** - مرحبا _w2x_ \u200fw3x\u202e w4x"),
    ("nested emphasis", "***w1x** w2x* **_w3x ~~w4x~~_** ~~**w5x**~~ *w6x **w7x** w8x*"),
    ("unbalanced markers", "**w1x *w2x _w3x ~~w4x `w5x [w6x](w7x ![w8x"),
    ("nested quote with fence", "> w1x\n>> w2x\n>> ```\n>> w3x\n>>   w4x\n>> ```\n> w5x\nw6x"),
    (
        "tasks, rule, image, footnote",
        "- [ ] w1x\n- [x] w2x\n\n---\n\n![w3x](https://e.org/i.png) w4x[^1]\n\n[^1]: w5x",
    ),
    ("code with backticks", "`` w1x ` w2x `` and ``` `` w3x `` ``` and `w4x` and ````\nw5x"),
    ("reserved characters", "w1x _*[]()~`>#+-=|{}.! w2x \\_\\*\\[\\]\\( w3x\\\\ 1.5 - 2 = w4x!"),
    (
        "mentions",
        "ok @everyone and <@&812345678900000099> <!channel> <!here> <@U0MIRA0001> @w1x #w2x",
    ),
    ("fence in list", "1. w1x\n   ```sh\n   w2x\n     w3x\n   ```\n   w4x\n2. w5x"),
    ("latex", "$w1x_{a} * w2x_{b}$ and \\(w3x\\) and \\[ w4x \\] and $$\\frac{w5x}{2}$$"),
    (
        "generics",
        "Vec<String> w1x HashMap<K, Vec<w2x>> std::vector<std::string> w3x a < b && c > d",
    ),
    (
        "400-line fence",
        "w1x\n```py\n" + "\n".join(f"    line_{i} = f({i})" for i in range(400)) + "\n```\nw2x",
    ),
    (
        "9k paragraph",
        "w1x " + "This sentence is **rather** plain. Its end comes soon! " * 170 + "w2x",
    ),
    (
        "5000 emoji",
        "\U0001f600" * 2500
        + FAMILY * 500
        + "\U0001f1e9\U0001f1ea" * 500
        + "\U0001f44d\U0001f3fd" * 250,
    ),
    ("9000-char word", "w1x **" + "x" * 9000 + "** w2x"),
    (
        "150 sections",
        "\n\n".join(f"## w{i}x\n\nText *of* section {i}.\n\n- one\n- two" for i in range(150)),
    ),
    (
        "400-row table",
        "| n | name |\n|--:|---|\n" + "\n".join(f"| {i} | w{i}x ✓ |" for i in range(400)),
    ),
    ("500-line quote", "\n".join(f"> w{i}x and **more** of it  " for i in range(500))),
]


def words(text: str) -> list[str]:
    """Return the marked words of a text in order."""
    return _WORD.findall(text)


def documents() -> SearchStrategy[str]:
    """Make Markdown of any shape out of blocks, half of it broken on purpose."""
    return st.lists(_block(), max_size=8).map("\n".join)


_ATOMS = st.sampled_from(
    [
        "**",
        "*",
        "_",
        "__",
        "~~",
        "`",
        "``",
        "```",
        "[",
        "](https://e.org/a)",
        "](x)",
        "![",
        "\\",
        "<",
        ">",
        "<b>",
        "&amp;",
        "&nbsp;",
        "|",
        "#",
        "~",
        ":",
        "!",
        "  \n",
        "\n",
        "\n\n",
        "\t",
        "    ",
        "[^1]",
        "https://e.org/?a=1&b=2",
        "<https://e.org>",
        "<a@e.org>",
        "@everyone",
        "<!here>",
        "。",
        "：",
        "重要",
        "こんにちは",
        "שלום",
        "\u200f",
        "\u200b",
        "\u00a0",
        "e\u0301",
        "\r\n",
        "1.",
        "- ",
        FAMILY,
        "\U0001f600",
        "\U0001f1e9\U0001f1ea",
        "1\ufe0f\u20e3",
        "\U0001f44d\U0001f3fd",
        "\ufeff",
        "[ ] ",
        "[x] ",
        "=",
        "-",
        "+",
        "(",
        ")",
        "]",
        "}",
        "$",
        "\x1b[31m",
        "\x0b",
        "\u2028",
    ]
)
_WORDS = st.integers(0, 999).map("w{}x".format)
_PLAIN = st.text(max_size=12)
_LINE_HEADS = st.sampled_from(
    [
        "",
        "",
        "# ",
        "### ",
        "- ",
        "  - ",
        "* ",
        "1. ",
        "12) ",
        "> ",
        ">> ",
        "> - ",
        "    ",
        "- [x] ",
    ]
)
_FENCES = st.sampled_from(
    ["```", "~~~", "````", "```py", "```py title=x", "> ```", "- ```js", "   ```"]
)
_RULES = st.sampled_from(
    ["", "", "---", "***", "===", "|---|---|", "|:-:|--:|", "[a]: https://e.org"]
)


def _inline() -> SearchStrategy[str]:
    return st.lists(st.one_of(_ATOMS, _WORDS, _WORDS, st.just(" "), _PLAIN), max_size=10).map(
        "".join
    )


def _block() -> SearchStrategy[str]:
    line = st.builds("{}{}".format, _LINE_HEADS, _inline())
    return st.one_of(line, line, _inline(), _RULES, _table(), _fence())


@st.composite
def _table(draw: DrawFn) -> str:
    rows = draw(st.lists(st.lists(_inline(), min_size=1, max_size=4), min_size=1, max_size=4))
    lines = [f"| {' | '.join(row)} |" for row in rows]
    lines.insert(1, "|---" * len(rows[0]) + "|")
    return "\n".join(lines)


@st.composite
def _fence(draw: DrawFn) -> str:
    head = draw(_FENCES)
    body = draw(st.lists(_inline(), max_size=4))
    tail = draw(st.sampled_from(["```", "~~~", "````", ""]))
    return "\n".join([head, *body, tail])
