"""The texts: complete in every language, with the right plurals, and safe to fill in."""

from __future__ import annotations

import string

import pytest

from gateway.text import catalog
from gateway.text.catalog import COMMANDS, TEXTS, Entry, help_text, language_of, text
from gateway.text.markup import parse

PLURALS = {"en": {"one", "other"}, "ru": {"one", "few", "many"}, "zh": {"other"}}
KEYS = sorted(TEXTS["en"])


def forms(entry: Entry) -> list[str]:
    return list(entry.values()) if isinstance(entry, dict) else [entry]


def fields(form: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(form) if name is not None}


def code_spans(form: str) -> list[str]:
    return sorted(form.split("`")[1::2])


@pytest.mark.parametrize("language", TEXTS)
def test_every_language_says_everything(language: str) -> None:
    assert sorted(TEXTS[language]) == KEYS


@pytest.mark.parametrize("key", KEYS)
def test_translations_have_the_same_names_and_plurals(key: str) -> None:
    english = forms(TEXTS["en"][key])
    for language, texts in TEXTS.items():
        entry = texts[key]
        assert isinstance(entry, dict) == isinstance(TEXTS["en"][key], dict)
        if isinstance(entry, dict):
            assert set(entry) == PLURALS[language]
        for form in forms(entry):
            assert fields(form) == fields(english[0])
            assert form == form.strip()
            assert form.count("`") % 2 == 0


@pytest.mark.parametrize("language", TEXTS)
@pytest.mark.parametrize("key", KEYS)
def test_every_text_can_be_shown(key: str, language: str) -> None:
    values: dict[str, object] = {"n": 3}
    values.update((name, f"<{name}>") for name in fields(forms(TEXTS["en"][key])[0]) - {"n"})
    shown = parse(text(key, language, **values)).text
    assert shown
    assert all(f"<{name}>" in shown for name in values if name != "n")
    assert "`" not in shown
    assert "\\" not in shown


@pytest.mark.parametrize(
    "key", ["pairing.request", "setup.reply", "title.usage", "failed.credentials"]
)
def test_what_is_to_be_typed_is_the_same_in_every_language(key: str) -> None:
    typed = [
        [
            span
            for form in forms(texts[key])
            for span in code_spans(form)
            if not span.startswith("/title")
        ]
        for texts in TEXTS.values()
    ]
    assert typed[0] == typed[1] == typed[2]


@pytest.mark.parametrize("language", TEXTS)
def test_the_set_up_mode_is_labelled(language: str) -> None:
    assert text("setup.reply", language).startswith("[set-up mode: no model]")


@pytest.mark.parametrize(
    ("language", "n", "shown"),
    [
        ("en", 0, "0 messages are waiting for an answer."),
        ("en", 1, "1 message is waiting for an answer."),
        ("en", 21, "21 messages are waiting for an answer."),
        ("ru", 0, "Ответа ждут 0 сообщений."),
        ("ru", 1, "Ответа ждёт 1 сообщение."),
        ("ru", 2, "Ответа ждут 2 сообщения."),
        ("ru", 4, "Ответа ждут 4 сообщения."),
        ("ru", 5, "Ответа ждут 5 сообщений."),
        ("ru", 11, "Ответа ждут 11 сообщений."),
        ("ru", 12, "Ответа ждут 12 сообщений."),
        ("ru", 21, "Ответа ждёт 21 сообщение."),
        ("ru", 22, "Ответа ждут 22 сообщения."),
        ("ru", 111, "Ответа ждут 111 сообщений."),
        ("ru", 114, "Ответа ждут 114 сообщений."),
        ("zh", 1, "有 1 条消息在等待回答。"),
        ("zh", 7, "有 7 条消息在等待回答。"),
        ("eo", 1, "1 message is waiting for an answer."),
    ],
)
def test_plurals(language: str, n: int, shown: str) -> None:
    assert text("status.queue", language, n=n) == shown


def test_a_count_must_be_a_number() -> None:
    with pytest.raises(TypeError, match="str"):
        text("status.queue", "en", n="3")


def test_a_wrong_key_or_a_missing_value_is_an_error() -> None:
    with pytest.raises(KeyError, match=r"no\.such\.text"):
        text("no.such.text", "en")
    with pytest.raises(KeyError, match="title"):
        text("title.done", "en")


def test_values_are_shown_letter_by_letter() -> None:
    """H-32 and H-41: what a person wrote neither formats nor links anything."""
    title = "**[x](https://e.org)** {title} `a_b` <@U1>"
    rich = parse(text("title.done", "en", title=title))
    assert rich.text == f"This conversation is now called “{title}”."
    assert rich.spans == ()


def test_values_stay_inside_their_code() -> None:
    rich = parse(text("unknown_command", "en", name="a_b*`c"))
    assert [rich.text[span.start : span.end] for span in rich.spans] == ["/a_b*'c"]


def test_stored_facts_are_quoted() -> None:
    rich = parse(text("setup.known", "en", facts="likes *tea*\n- has a cat"))
    assert [rich.text[span.start : span.end] for span in rich.spans] == [
        "likes *tea*\n- has a cat"
    ]


@pytest.mark.parametrize("language", TEXTS)
def test_help_lists_each_command_once_in_one_line(language: str) -> None:
    lines = parse(help_text(language)).text.split("\n")
    assert [line.split(" — ")[0] for line in lines if line.startswith("/")] == [
        f"/{name}" for name in COMMANDS
    ]
    assert help_text(language, ["new"]).count("/") == 1


@pytest.mark.parametrize("language", TEXTS)
@pytest.mark.parametrize("key", [key for key in KEYS if key.startswith("cmd.")])
def test_a_menu_takes_the_command_texts_as_they_are(key: str, language: str) -> None:
    described = text(key, language)
    assert parse(described).text == described
    assert len(described) <= 100


@pytest.mark.parametrize(
    ("code", "language"),
    [
        ("en", "en"),
        ("ru-RU", "ru"),
        ("zh-hans", "zh"),
        ("zh_CN", "zh"),
        ("ZH-Hant-TW", "zh"),
        ("RU", "ru"),
        ("pt-br", "en"),
        ("", "en"),
        (None, "en"),
        (" ru ", "ru"),
        ("x", "en"),
    ],
)
def test_language_of_a_client(code: str | None, language: str) -> None:
    assert language_of(code) == language


@pytest.mark.parametrize(("default", "language"), [("ru", "ru"), ("zh", "zh"), ("eo", "en")])
def test_others_are_answered_in_the_default_language(default: str, language: str) -> None:
    assert language_of("pt-br", default) == language_of(None, default) == language
    assert catalog.DEFAULT_LANGUAGE == "en"
