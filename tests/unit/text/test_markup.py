"""Markdown as models write it, turned into visible text with ranges."""

from __future__ import annotations

import re
import time
from collections import Counter

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gateway.model.outbound import RichText, SpanKind
from gateway.text.clean import blank, invisible
from gateway.text.markup import MAX_SOURCE, parse, plain
from tests.fakes.fuzzing import examples
from tests.unit.text.documents import NASTY, documents, words


def shown(markdown: str) -> tuple[str, list[tuple[str, str, str]]]:
    """Return the text and (kind, words, value) of each range."""
    rich = parse(markdown)
    return rich.text, [
        (span.kind.value, rich.text[span.start : span.end], span.value) for span in rich.spans
    ]


INLINE = [
    (
        "**b** *i* ~~s~~ `c`",
        "b i s c",
        [("bold", "b", ""), ("italic", "i", ""), ("strike", "s", ""), ("code", "c", "")],
    ),
    ("***both***", "both", [("italic", "both", ""), ("bold", "both", "")]),
    ("**a *b* c**", "a b c", [("bold", "a b c", ""), ("italic", "b", "")]),
    ("**a **b** c**", "a b c", [("bold", "a b c", "")]),
    ("__init__ and __init__.py", "__init__ and __init__.py", []),
    ("__two words__ _i_", "two words i", [("bold", "two words", ""), ("italic", "i", "")]),
    ("__*x*__", "x", [("bold", "x", ""), ("italic", "x", "")]),
    ("snake_case_name 2*3*4", "snake_case_name 234", [("italic", "3", "")]),
    (r"\*not\* \`code\` \\", r"*not* `code` \ ".strip(), []),
    ("**注意：**请看", "注意：请看", [("bold", "注意：", "")]),
    ("他说**“好”**的", "他说“好”的", [("bold", "“好”", "")]),
    ("**文*字", "**文*字", []),
    ("a **b c", "a **b c", []),
    ("line\nnext  \nlast", "line\nnext\nlast", []),
    ("&lt;b&gt; &amp; &copy;", "<b> & ©", []),
    ("a\0b \ud83d", "ab \ufffd", []),
]

LINKS = [
    ('[t](https://e.org/a_(b) "title")', "t", [("link", "t", "https://e.org/a_(b)")]),
    (
        "[m](mailto:a@e.org) [t](tg://user?id=1) [c](tel:+1)",
        "m t c",
        [
            ("link", "m", "mailto:a@e.org"),
            ("link", "t", "tg://user?id=1"),
            ("link", "c", "tel:+1"),
        ],
    ),
    ("[x](javascript:alert(1))", "[x](javascript:alert(1))", []),
    (
        "[x](JavaScript:a) [y](data:text/html,z) [z](file:///etc/passwd)",
        "[x](JavaScript:a) [y](data:text/html,z) [z](file:///etc/passwd)",
        [],
    ),
    ("[x](src/a.py) [y](#top) [z]()", "[x](src/a.py) [y](#top) [z]()", []),
    (
        "<https://e.org/%20>",
        "https://e.org/%20",
        [("link", "https://e.org/%20", "https://e.org/%20")],
    ),
    ("<a@e.org>", "a@e.org", [("link", "a@e.org", "mailto:a@e.org")]),
    ("std::vector<std::string>", "std::vector<std::string>", []),
    ("Vec<String> <div>x</div>", "Vec<String> <div>x</div>", []),
    ("![alt *x*](https://e.org/i.png)", "alt x", [("link", "alt x", "https://e.org/i.png")]),
    (
        "![](https://e.org/i.png)",
        "https://e.org/i.png",
        [("link", "https://e.org/i.png", "https://e.org/i.png")],
    ),
    ("[](https://e.org)", "https://e.org", [("link", "https://e.org", "https://e.org")]),
    ("[![b](https://e.org/i)](https://e.org)", "b", [("link", "b", "https://e.org")]),
    ("[a **b**](https://e.org)", "a b", [("link", "a b", "https://e.org"), ("bold", "b", "")]),
    ("![a]() []() ![]()", "![a]() []() ![]()", []),
    ("x[^1]\n\n[^1]: note", "x[^1]\n\n[^1]: note", []),
    ("[r]: https://e.org\n\n[r]", "[r]: https://e.org\n\n[r]", []),
]

BLOCKS = [
    (
        "# One\ntext\n\n### Two ###\n\nmore",
        "One\ntext\n\nTwo\nmore",
        [("heading", "One", "1"), ("heading", "Two", "3")],
    ),
    ("- a\n- b\n  - c\n    - d\n      - e\n- f", "• a\n• b\n  ◦ c\n    ▪ d\n      ▪ e\n• f", []),
    ("3. a\n4. b\n   1) c\n\nd", "3. a\n4. b\n   1) c\n\nd", []),
    ("- a\n\n- b\n\n  c", "• a\n\n• b\n\n  c", []),
    ("-\n- b", "• \n• b", []),
    ("- one\n  two", "• one\n  two", []),
    ("- - a\n  - b", "• ◦ a\n  ◦ b", []),
    ("- [ ] a\n- [x] b\n1. [X] c\n- [x](y)", "☐ a\n☑ b\n\n1. ☑ c\n\n• [x](y)", []),
    ("a\n\n---\n\nb", "a\n\n──────────\n\nb", []),
    ("> a\n> b\n\nc", "a\nb\n\nc", [("quote", "a\nb", "")]),
    ("> a\n>> b\n>> c\n>\n> d", "a\n\n> b\n> c\n\nd", [("quote", "a\n\n> b\n> c\n\nd", "")]),
    ("- a\n  > b\n- c", "• a\nb\n• c", [("quote", "b", "")]),
    ("- > a\n  > b", "• \na\nb", [("quote", "a\nb", "")]),
    ("```py\n  a = 1\n\n  b\n```\nc", "  a = 1\n\n  b\n\nc", [("pre", "  a = 1\n\n  b", "py")]),
    ('~~~ c++ title="x"\na\n~~~', "a", [("pre", "a", "c++")]),
    ("```{.js .numberLines}\na\n```", "a", [("pre", "a", "js")]),
    ("```Error: it broke\na\n```", "Error: it broke\na", [("pre", "Error: it broke\na", "")]),
    ("```\na\n  b", "a\n  b", [("pre", "a\n  b", "")]),
    ("```hello", "hello", [("pre", "hello", "")]),
    ("````\n```\n```\n````", "```\n```", [("pre", "```\n```", "")]),
    ("````\n```py\na\n```\n````", "```py\na\n```", [("pre", "```py\na\n```", "")]),
    (
        "1. a\n   ```sh\n   b\n     c\n   ```\n2. d",
        "1. a\nb\n  c\n2. d",
        [("pre", "b\n  c", "sh")],
    ),
    ("- ```\n  a\n  ```", "• \na", [("pre", "a", "")]),
    ("    code\n      more\n\ntext", "code\n  more\n\ntext", [("pre", "code\n  more", "")]),
    ("> ```x\n> a\n> ```", "a", [("quote", "a", ""), ("pre", "a", "x")]),
    ("<div>\n**a**\n</div>", "<div>\na\n</div>", [("bold", "a", "")]),
    ("a\r\nb\rc", "a\nb\nc", []),
]

TABLES = [
    (
        "| a | b |\n|---|--:|\n| x\\|y | 1 |\n| `c` | 10 |",
        "a   |  b\n----+---\nx|y |  1\nc   | 10",
    ),
    ("|a|\n|-|\n|[t](https://e.org)|", "a\n-----------------\nt (https://e.org)"),
    ("|a|b|\n|-|-|\n|1|2|3|*4*|\n|5|", "a | b\n--+----------\n1 | 2 | 3 | 4\n5"),
    ("> |a|b|\n> |-|-|\n> |1|2|3|", "a | b\n--+------\n1 | 2 | 3"),
]

#: (markdown, text) where backticks are talked about rather than used
SPOKEN = [
    ("type ``` to open a block, then ``` to close", "type ``` to open a block, then ``` to close"),
    ("end with ```", "end with ```"),
    ("use ```` ``` ```` here", "use ``` here"),
    ("``` `x` ```", "`x`"),
    ("```ls -la``` lists", "ls -la lists"),
    ("a `` ` `` b", "a ` b"),
    ("[``` x](https://e.org)", "``` x"),
]


@pytest.mark.parametrize(("markdown", "text", "spans"), [*INLINE, *LINKS, *BLOCKS])
def test_markdown_is_read_as_it_is_meant(
    markdown: str, text: str, spans: list[tuple[str, str, str]]
) -> None:
    assert shown(markdown) == (text, spans)


@pytest.mark.parametrize(("markdown", "text"), TABLES)
def test_tables_are_drawn_and_keep_every_cell(markdown: str, text: str) -> None:
    rich = parse(markdown)
    assert rich.text == text
    assert [(span.start, span.end) for span in rich.spans if span.kind == "pre"] == [
        (0, len(text))
    ]


@pytest.mark.parametrize(("markdown", "text"), SPOKEN)
def test_backticks_that_are_talked_about_stay(markdown: str, text: str) -> None:
    """H-31."""
    assert parse(markdown).text == text


@pytest.mark.parametrize("markdown", ["#", "&nbsp;", ">", "[](", "- ", "\\", "```hello"])
def test_marks_alone_are_shown(markdown: str) -> None:
    assert not invisible(parse(markdown).text)


@pytest.mark.parametrize("markdown", ["", " \n\t", "\u200b", "```\n```", "```py\n\n```"])
def test_nothing_stays_nothing(markdown: str) -> None:
    """H-33."""
    assert invisible(parse(markdown).text)


@pytest.mark.parametrize(("name", "markdown"), NASTY)
def test_nasty_inputs_keep_their_words(name: str, markdown: str) -> None:
    rich = parse(markdown)
    assert words(rich.text) == words(markdown), name
    check_ranges(rich)


@pytest.mark.parametrize(
    "unit",
    [
        "[",
        "![",
        "*",
        "**a ",
        "_a ",
        "~~",
        "`",
        "`` ` ",
        "``` ",
        ">",
        "> ",
        "- ",
        "1. ",
        "<",
        "<a",
        "|",
        "|a\n|-\n",
        "\\",
        "&",
        "[a](",
        "[a](b",
        "![a](https://e.org) ",
        "*[_",
        "\t",
        "# ",
        "\n",
        "[x] ",
        "🇩",
    ],
)
def test_a_flood_of_marks_takes_seconds_at_most(unit: str) -> None:
    length = 100_000 if unit in "[*>" else 30_000
    source = unit * (length // len(unit))
    began = time.process_time()
    rich = parse(source)
    assert time.process_time() - began < 20
    assert rich.text or blank(source)


@pytest.mark.parametrize("marks", ["> " * 60, "- " * 60, "1. " * 60, "> - " * 30])
def test_what_is_nested_too_deep_comes_back_as_it_is(marks: str) -> None:
    assert parse(f"{marks}**deep**") == RichText(f"{marks}**deep**")
    assert parse(f"{marks[:30]}**deep**").spans


def test_emphasis_nested_without_end_has_one_range_of_a_kind() -> None:
    rich = parse("*a **b " * 2000 + "** *" * 2000)
    assert len(rich.spans) <= 4


def test_a_book_is_not_parsed() -> None:
    assert parse("**b** " * (MAX_SOURCE // 6)).spans
    assert not parse("**b** " * (MAX_SOURCE // 6 + 1)).spans


#: what stands behind the marks that open a fence
_FENCES = re.compile(r"(?:`{3,}|~{3,})([^\n]*)")


@example("w0x\n```w0x\n**")
@example("- ```w0x\n\n")
@settings(max_examples=examples(1500), deadline=None)
@given(documents())
def test_any_document_keeps_its_words_and_has_sound_ranges(markdown: str) -> None:
    rich = parse(markdown)
    languages = words(" ".join(span.value for span in rich.spans if span.kind is SpanKind.PRE))
    kept, written = words(rich.text), words(markdown)
    # the language of a fence with nothing in it goes with the fence
    lost = Counter(written) - Counter([*kept, *languages])
    assert lost <= Counter(words(" ".join(_FENCES.findall(markdown))))
    assert Counter([*kept, *languages]) <= Counter(written)
    rest = iter(written)
    assert all(word in rest for word in kept)
    assert invisible(rich.text) <= blank(markdown)
    check_ranges(rich)


@settings(max_examples=examples(300))
@given(st.text())
def test_any_text_has_sound_ranges(text: str) -> None:
    check_ranges(parse(text))


def check_ranges(rich: RichText) -> None:
    open_until: list[int] = []
    last = 0
    for span in rich.spans:
        assert 0 <= span.start < span.end <= len(rich.text)
        assert rich.text[span.start : span.end].strip()
        assert span.start >= last, "ranges stand in the order in which they open"
        last = span.start
        while open_until and open_until[-1] <= span.start:
            open_until.pop()
        assert not open_until or span.end <= open_until[-1], "ranges nest"
        open_until.append(span.end)


@pytest.mark.parametrize(
    ("markdown", "limit", "text"),
    [
        ("**a** [t](https://e.org), [u](tel:1)", None, "a t (https://e.org), u (tel:1)"),
        ("<https://e.org> <a@e.org> [1](tel:1)", None, "https://e.org a@e.org 1"),
        ("[t](https://e.org) [u](tel:1)", 20, "t (https://e.org) u"),
        ("[t](https://e.org) [u](tel:1)", 13, "t u (tel:1)"),
        ("no link", 0, "no link"),
    ],
)
def test_plain_text_names_addresses_while_there_is_room(
    markdown: str, limit: int | None, text: str
) -> None:
    assert plain(parse(markdown), limit=limit) == text


@given(documents(), st.integers(0, 200))
def test_plain_text_keeps_its_words_and_its_limit(markdown: str, limit: int) -> None:
    rich = parse(markdown)
    flat = plain(rich, limit=limit)
    assert words(flat) == words(rich.text)
    assert len(flat) <= max(limit, len(rich.text))
