"""Charset labels as pages write them, and the text of a body.

The WHATWG Encoding standard (section 4.2) defines the labels: `iso-8859-1` is windows-1252,
`gb2312` is gb18030. Python's own lookup isn't used: it supports codecs such as `unicode_escape`
and `idna`, which no page may choose.
"""

import re
from typing import Final

PRESCAN_BYTES: Final = 1024  # HTML standard, 13.2.3.2: bytes that must contain a meta charset

_BYTE_ORDER_MARKS: Final = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xfe\xff", "utf-16-be"),
    (b"\xff\xfe", "utf-16-le"),
)
_COMMENT: Final = re.compile(rb"<!--.*?-->", re.DOTALL)
_META_CHARSET: Final = re.compile(
    rb"""<meta[\s/][^>]*?charset\s*=\s*["']?\s*([^\s"'/>;]+)""", re.IGNORECASE
)
_XML_ENCODING: Final = re.compile(rb"""^\s*<\?xml\s[^>]*?encoding\s*=\s*["']([^"']+)""")

_ISO_8859: Final = re.compile(r"(?:cs)?iso[-_]?8859[-_]?(\d{1,2})(?:-[ei])?(?::19\d\d)?")
_WINDOWS: Final = re.compile(r"(?:windows-|cp|x-cp)(125[0-8])")
_WINDOWS_INSTEAD_OF_ISO: Final = {1: "cp1252", 9: "cp1254", 11: "cp874"}
_ISO_PARTS: Final = frozenset((*range(1, 12), 13, 14, 15, 16))
_CODECS: Final = {
    label: codec
    for codec, labels in {
        "utf-8": "utf-8 utf8 unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8",
        "utf-16-le": "utf-16 utf-16le ucs-2 unicode csunicode iso-10646-ucs-2 unicodefeff",
        "utf-16-be": "utf-16be unicodefffe",
        "cp1252": "latin1 l1 ascii us-ascii ansi_x3.4-1968 csisolatin1 iso-ir-100 ibm819 cp819",
        "iso8859-2": "latin2 l2 csisolatin2 iso-ir-101",
        "iso8859-3": "latin3 l3 csisolatin3 iso-ir-109",
        "iso8859-4": "latin4 l4 csisolatin4 iso-ir-110",
        "iso8859-5": "cyrillic csisolatincyrillic iso-ir-144",
        "iso8859-6": "arabic csisolatinarabic ecma-114 asmo-708 iso-ir-127",
        "iso8859-7": "greek greek8 csisolatingreek ecma-118 elot_928 sun_eu_greek iso-ir-126",
        "iso8859-8": "hebrew visual logical csisolatinhebrew iso-ir-138",
        "cp1254": "latin5 l5 csisolatin5 iso-ir-148",
        "iso8859-10": "latin6 l6 csisolatin6 iso-ir-157",
        "iso8859-15": "l9 csisolatin9",
        "cp866": "866 cp866 ibm866 csibm866",
        "cp874": "windows-874 dos-874 tis-620",
        "koi8-r": "koi8-r koi koi8 koi8_r cskoi8r",
        "koi8-u": "koi8-u koi8-ru",
        "mac-roman": "macintosh mac x-mac-roman csmacintosh",
        "mac-cyrillic": "x-mac-cyrillic x-mac-ukrainian",
        "gb18030": "gb18030 gbk gb2312 gb_2312 gb_2312-80 chinese csgb2312 x-gbk iso-ir-58"
        " csiso58gb231280",
        "big5hkscs": "big5 big5-hkscs cn-big5 csbig5 x-x-big5",
        "euc_jp": "euc-jp x-euc-jp cseucpkdfmtjapanese",
        "iso2022_jp": "iso-2022-jp csiso2022jp",
        "cp932": "shift_jis shift-jis sjis x-sjis ms_kanji ms932 windows-31j csshiftjis",
        "cp949": "euc-kr korean cseuckr windows-949 ksc5601 ksc_5601 ks_c_5601-1987"
        " ks_c_5601-1989 iso-ir-149",
    }.items()
    for label in labels.split()
}


def codec_of(label: str | None) -> str | None:
    """Return the Python codec of a charset label, or None for an unknown label."""
    name = (label or "").strip().lower()
    if name in _CODECS:
        return _CODECS[name]
    if windows := _WINDOWS.fullmatch(name):
        return f"cp{windows.group(1)}"
    if (iso := _ISO_8859.fullmatch(name)) and (part := int(iso.group(1))) in _ISO_PARTS:
        return _WINDOWS_INSTEAD_OF_ISO.get(part, f"iso8859-{part}")
    return None


def xml_codec(head: bytes) -> str | None:
    """Return the codec that an XML declaration names; None without one, or for an unknown label."""
    found = _XML_ENCODING.match(head)
    return codec_of(found.group(1).decode("latin-1")) if found else None


def decode_text(body: bytes, charset: str | None) -> str:
    """Decode the text of a body; never fails.

    The byte-order mark decides, as in the Encoding standard. Then follow the declared charset, the
    document's own (meta or XML declaration), UTF-8 and windows-1252, each only if it fits.
    """
    for mark, codec in _BYTE_ORDER_MARKS:
        if body.startswith(mark):
            return body[len(mark) :].decode(codec, "replace")
    for candidate in (codec_of(charset), _prescan(body), "utf-8"):
        text = None if candidate is None else _decode_if_fitting(body, candidate)
        if text is not None:
            return text
    return body.decode("cp1252", "replace")


def _decode_if_fitting(body: bytes, codec: str) -> str | None:
    """Decode the text, or return None if more non-ASCII characters are lost than read.

    A body that is invalid in its charset but valid UTF-8 is decoded as UTF-8.
    """
    for candidate in (codec, "utf-8"):
        try:
            return body.decode(candidate)
        except UnicodeDecodeError:
            continue
    text = body.decode(codec, "replace")
    lost = text.count("\N{REPLACEMENT CHARACTER}")
    read = len(text) - len(text.encode("ascii", "ignore")) - lost
    return text if lost < read else None


def _prescan(body: bytes) -> str | None:
    head = body[:PRESCAN_BYTES]
    found = _XML_ENCODING.match(head) or _META_CHARSET.search(_COMMENT.sub(b"", head))
    codec = codec_of(found.group(1).decode("latin-1")) if found else None
    # The declaration was readable as ASCII, so the text isn't UTF-16 (HTML standard).
    return "utf-8" if codec and codec.startswith("utf-16") else codec
