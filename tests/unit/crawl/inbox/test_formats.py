"""Files of URLs are read line by line, from any line on; a bad line affects no other line."""

import json

import pytest

from spinneret.crawl.inbox import limits
from spinneret.crawl.inbox.formats import check_text, columns_of, entries_of, lines_of
from spinneret.crawl.inbox.models import FileEntry, Format
from spinneret.jobs.models import Priority
from spinneret.kernel import bounds
from spinneret.kernel.errors import ContentRefused

A, B = "https://a.example/", "https://b.example/"


def read(form: Format, body: bytes, number: int = 1, offset: int = 0) -> list[FileEntry]:
    columns = columns_of(body) if form is Format.CSV else None
    lines = lines_of(lambda first, end: body[first:end], len(body), number, offset)
    return list(entries_of(form, lines, columns))


def urls(entries: list[FileEntry]) -> list[tuple[int, str | None]]:
    return [(each.number, each.asked.url if each.asked else None) for each in entries]


def test_text_has_a_url_a_line_and_comments() -> None:
    body = b"\xef\xbb\xbfhttps://a.example/\r\n\n# old ones\n  https://b.example/  \nhttps://c.example/"
    assert urls(read(Format.TXT, body)) == [
        (1, "https://a.example/"),
        (4, "https://b.example/"),
        (5, "https://c.example/"),
    ]


# covers C-09
@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("title,URL\nOne,https://a.example/\n", [(2, "https://a.example/")]),
        (
            "1;https://a.example/?x=1,2\n2;https://b.example/",
            [(1, "https://a.example/?x=1,2"), (2, "https://b.example/")],
        ),
        ("title,page\nOne,https://a.example/\n\n", [(2, "https://a.example/")]),
        (
            't,url\n"two\nlines",https://a.example/\nx,https://b.example/',
            [(2, "https://a.example/"), (4, "https://b.example/")],
        ),
        (
            't,url\n"open,https://a.example/\nx,https://b.example/',
            [(2, None), (3, "https://b.example/")],
        ),
        ("t,url\nalone\nx,https://b.example/", [(2, None), (3, B)]),
        ("\r\n\r\nname;url\r\nx;https://b.example/\r\n", [(4, B)]),
        ("", []),
    ],
)
def test_csv_has_a_column_of_urls(body: str, found: list[tuple[int, str | None]]) -> None:
    assert urls(read(Format.CSV, body.encode())) == found


def test_csv_without_a_column_of_urls_is_refused() -> None:
    with pytest.raises(ContentRefused):
        columns_of(b"name,size\nOne,2\n")


def test_a_json_line_has_options() -> None:
    line = {"url": "https://a.example/", "priority": "high", "force": True, "tags": ["Silk"]}
    [entry] = read(Format.JSONL, json.dumps(line).encode())
    assert entry.asked is not None
    assert (entry.asked.priority, entry.asked.force, entry.asked.tags) == (
        Priority.HIGH,
        True,
        ("silk",),
    )


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b"[" * 60_000,
        b'{"priority": "high"}',
        b'{"url": "https://a.example/", "webhook_url": "https://hook.example/"}',
        b'{"url": "https://a.example/", "priority": "soon"}',
        b'{"url": "https://a.example/\xff"}',
        b'{"url": "https://a.example/' + b"x" * bounds.URL_MAX_CHARS + b'"}',
        b" " * (limits.INBOX_LINE_MAX_BYTES + 1),
        b"x" * (3 * limits.INBOX_READ_BYTES),
    ],
)
def test_a_bad_line_is_reported_and_the_next_one_read(line: bytes) -> None:
    body = b'{"url": "https://a.example/1"}\n' + line + b'\n{"url": "https://a.example/3"}\n'
    before, bad, after = read(Format.JSONL, body)
    assert bad.number == 2
    assert bad.problem is not None
    assert bad.problem.code == "VALIDATION_ERROR"
    assert urls([before, after]) == [(1, "https://a.example/1"), (3, "https://a.example/3")]


def test_a_bad_line_is_reported_in_our_own_words() -> None:
    line = b'{"url": "https://a.example/", "priority": "soon", "colour": 1}\n'
    [bad] = read(Format.JSONL, line)
    assert bad.problem is not None
    told = {each["path"]: each["message"] for each in bad.problem.details["fields"]}
    assert told["colour"] == "is unknown"
    assert told["priority"].startswith("must be one of 'critical'")


CASES: dict[Format, bytes] = {
    Format.TXT: b"https://a.example/1\n\n# x\nhttps://a.example/2\r\nhttps://a.example/3",
    Format.CSV: b't,url\n"a\nb",https://a.example/1\n"x,https://a.example/2\ny,https://a.example/3',
    Format.JSONL: b'{"url": "https://a.example/1"}\n{\n{"url": "https://a.example/3"}\n',
}


@pytest.mark.parametrize("form", CASES)
def test_reading_goes_on_behind_any_entry(form: Format) -> None:
    whole = read(form, CASES[form])
    columns = columns_of(CASES[form]) if form is Format.CSV else None
    for at, entry in enumerate(whole):
        lines = lines_of(
            lambda first, end: CASES[form][first:end],
            len(CASES[form]),
            entry.next_line,
            entry.next_offset,
        )
        rest = list(entries_of(form, lines, columns))
        assert urls(rest) == urls(whole[at + 1 :])


@pytest.mark.parametrize("chunk", [1, 2, 7])
def test_lines_are_whole_wherever_a_read_ends(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = read(Format.TXT, CASES[Format.TXT])
    monkeypatch.setattr(limits, "INBOX_READ_BYTES", chunk)
    assert read(Format.TXT, CASES[Format.TXT]) == whole


@pytest.mark.parametrize("head", [b"\x89PNG\r\n\x00", b"a\x00b", b"\xe9\n"])
def test_what_is_not_text_is_refused(head: bytes) -> None:
    with pytest.raises(ContentRefused):
        check_text(head)


def test_text_may_be_cut_anywhere() -> None:
    text = ("https://a.example/ü\n" * 10_000).encode()
    for cut in range(8):
        check_text(text[: limits.INBOX_HEAD_BYTES + cut])


def test_a_line_of_thousands_of_wrong_fields_has_a_short_report() -> None:
    [bad] = read(Format.JSONL, json.dumps({f"x{n}": 1 for n in range(2_000)}).encode())
    assert bad.problem is not None
    assert len(bad.problem.details["fields"]) == limits.INBOX_FIELDS_SHOWN
