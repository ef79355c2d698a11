import codecs

from hypothesis import given
from hypothesis import strategies as st

from spinneret.web.fetching.charsets import codec_of
from spinneret.web.fetching.rules import decode_text
from tests.rows import each_row

GERMAN = "Größe: 5 €, süß"
RUSSIAN = "Привет, мир"
JAPANESE = "こんにちは世界"


@each_row(
    (ascii(row), row)
    for row in [
        ("utf-8", "utf-8"),
        (" UTF8 ", "utf-8"),
        ("ISO-8859-1", "cp1252"),
        ("iso_8859-1:1987", "cp1252"),
        ("latin1", "cp1252"),
        ("us-ascii", "cp1252"),
        ("iso-8859-2", "iso8859-2"),
        ("iso88595", "iso8859-5"),
        ("iso-8859-8-i", "iso8859-8"),
        ("iso-8859-9", "cp1254"),
        ("iso-8859-11", "cp874"),
        ("iso-8859-12", None),
        ("windows-1251", "cp1251"),
        ("x-cp1250", "cp1250"),
        ("windows-1259", None),
        ("gb2312", "gb18030"),
        ("Shift_JIS", "cp932"),
        ("ks_c_5601-1987", "cp949"),
        ("utf-7", None),
        ("unicode_escape", None),
        ("idna", None),
        ("punycode", None),
        ("rot13", None),
        ("base64", None),
        ("", None),
        (None, None),
    ]
)
def test_a_label_means_what_the_encoding_standard_says(row: tuple[str | None, str | None]) -> None:
    label, codec = row
    assert codec_of(label) == codec


@each_row(
    (ascii(label), label)
    for label in [
        *("utf-16", "utf-16be", "866", "koi8-u", "big5", "euc-jp", "iso-2022-jp", "tis-620"),
        *("x-mac-cyrillic", "x-mac-roman", "gbk"),
        *(f"iso-8859-{part}" for part in range(1, 17)),
    ]
)
def test_every_codec_exists(label: str) -> None:
    codec = codec_of(label)
    assert codec is None or codecs.lookup(codec)


@each_row(
    (ascii(row), row)
    for row in [
        (GERMAN.encode(), "utf-8", GERMAN),
        (GERMAN.encode("cp1252"), "iso-8859-1", GERMAN),
        (RUSSIAN.encode("koi8-r"), "KOI8-R", RUSSIAN),
        (JAPANESE.encode("cp932"), "shift_jis", JAPANESE),
        # a byte-order mark has precedence over the header, and isn't part of the text
        (codecs.BOM_UTF8 + GERMAN.encode(), "iso-8859-1", GERMAN),
        (codecs.BOM_UTF16_LE + GERMAN.encode("utf-16-le"), "utf-8", GERMAN),
        (codecs.BOM_UTF16_BE + GERMAN.encode("utf-16-be"), None, GERMAN),
        # no declaration
        (GERMAN.encode(), None, GERMAN),
        (GERMAN.encode("cp1252"), None, GERMAN),
        (b"", None, ""),
        # the document's own declaration
        (
            f"<meta charset=windows-1251><p>{RUSSIAN}".encode("cp1251"),
            None,
            f"<meta charset=windows-1251><p>{RUSSIAN}",
        ),
        (
            f'<META content="text/html; charset=koi8-r"><p>{RUSSIAN}'.encode("koi8-r"),
            "nonsense",
            f'<META content="text/html; charset=koi8-r"><p>{RUSSIAN}',
        ),
        (
            f"<?xml version='1.0' encoding='windows-1251'?>{RUSSIAN}".encode("cp1251"),
            None,
            f"<?xml version='1.0' encoding='windows-1251'?>{RUSSIAN}",
        ),
        (
            f"<!-- <meta charset=koi8-r> -->{GERMAN}".encode(),
            None,
            f"<!-- <meta charset=koi8-r> -->{GERMAN}",
        ),
        (
            f"<meta charset=utf-16>{GERMAN}".encode(),
            None,
            f"<meta charset=utf-16>{GERMAN}",
        ),
        (
            (" " * 2000 + f"<meta charset=koi8-r>{GERMAN}").encode(),
            None,
            " " * 2000 + f"<meta charset=koi8-r>{GERMAN}",
        ),
        # false declarations
        (GERMAN.encode("cp1252"), "utf-8", GERMAN),
        (GERMAN.encode(), "euc-kr", GERMAN),
        # one broken byte doesn't make a declaration false
        (RUSSIAN.encode() + b"\xff!", "utf-8", RUSSIAN + "\ufffd!"),
        (RUSSIAN.encode() + b"\xff!", None, RUSSIAN + "\ufffd!"),
    ]
)
def test_a_body_is_read_in_its_charset(row: tuple[bytes, str | None, str]) -> None:
    body, declared, text = row
    assert decode_text(body, declared) == text


@given(st.binary(max_size=200), st.one_of(st.none(), st.text(max_size=12)))
def test_any_body_has_a_text(body: bytes, declared: str | None) -> None:
    decode_text(body, declared).encode()
