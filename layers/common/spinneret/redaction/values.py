"""Find the end of the value after a name, and decide whether it is a secret."""

import re
import sys
from typing import Final

from spinneret.redaction import encodings, vocabulary
from spinneret.redaction.names import Kind
from spinneret.redaction.spans import MARK

_NAME: Final = r"[\w.\-%\[\]]{1,64}+[ \t]{0,4}"
_ESCAPED_END: Final = r"\\{0,31}(?:[nrt\"']|$|u00(?:0a|0d|20|22|26|27|3[bce])|x(?:0a|0d|00))"
_STOPS: Final = r"[\s\"'`)\]}>,;.:!?]|\\|$"  # characters that may follow a real closing sign

# An unquoted value continues over a sign unless what follows marks it as a separator.
PLAIN: Final = re.compile(rf"""(?xi:(?:
        [^\s"'`&;,?<>()\[\]{{}}\\|\x00\u201d\u2019»]++
      | \?(?!{_NAME}=)
      | &(?!amp;|{_NAME}=|$)
      | ;(?!\s|$|["']|{_NAME}[=:])
      | ,(?!\s|$|["']|{_NAME}[=:])
      | ["'`\u201d\u2019](?=[\w$%!@^*])(?!{_NAME}[=:])
      | [)\]}}>](?!{_STOPS})
      | [(\[{{»]
      | \|(?!{_NAME}=|\s|$)
      | <(?![/!A-Za-z])
      | \\(?!{_ESCAPED_END})
      | \x00(?!{_NAME}=|$)
    )++)""")
QUERY: Final = re.compile(r"(?:[^&#;\s\"'<>`|\\)\]},]++|[)\]},](?=[\w%]))++")  # RFC 3986, 3.4

_OPENING: Final = re.compile(
    r"""(?:[bBrRfFuU]{1,2}(?=["']))?(?P<slashes>\\{0,31})(?P<quote>["'`\u201c\u2018«])"""
)
OPENING_SIGNS: Final = frozenset("\"'`\u201c\u2018«\\bBrRfFuU")
"""First characters of possible quotations."""
_CLOSING: Final = {quote: re.compile(rf"\\*+{quote}") for quote in "\"'`"}
_CURLY: Final = {"\u201c": "\u201d", "\u2018": "\u2019", "«": "»"}
_CURLY_REACH: Final = 512  # characters; an unpaired curly quote is an ordinary character
_BEHIND: Final = re.compile(r"[\s,;:=&}\])>\\\"']|$")  # characters that may follow a closing quote
_LINE_END: Final = re.compile(r"[\r\n]|$")

_TEMPLATE: Final = (  # template placeholders
    r"\$\{\{?\s?[\w .\-]{1,80}\}?\}|\{\{[^{}\n]{0,80}\}\}|\{[A-Za-z_]{0,60}\}|\$\([^)\n]{0,80}\)"
    r"|<[A-Za-z][A-Za-z _\-]{0,60}>|%\([A-Za-z_]{1,60}\)[sdr]"
)
TEMPLATE_START: Final = re.compile(rf"(?:{_TEMPLATE})(?![\w$!@#%])")
"""Matches values that begin with a template placeholder."""
_PLACEHOLDER: Final = re.compile(
    rf"(?i)(?:[*•●.…xX_\-?#]{{3,}}|\W{{1,3}}|{_TEMPLATE}|\$[A-Z_]{{2,}}|\$\([^)]*|%[A-Z_]{{2,}}%|%[sdrv]"
    r"|:[a-z_]+|\[(?:redacted|filtered|hidden|removed|secret|masked)\]"
    r"|<?(?:redacted|filtered|masked|hidden|removed)>?)[.,;:!?)\]}]*"
)
_CODE: Final = re.compile(
    r"""(?: !?[A-Za-z_]+(?:\.[A-Za-z_]+)*[(\[][A-Za-z_.,=(\["']*   # a call or a subscript
        | (?:self|this|cls|os|sys|env|process|request|req|config|cfg|settings|args|options|opts
             |secrets|vars|var|data|params|event|ctx|context|local|module|props|state)
          (?:\.[A-Za-z_]+)+
        | (?:Optional|Union|List|Dict|Secret|Literal)\w*\[.*
        | (?:Secret)?(?:str|Str|String|Bytes|Text)\b(?:\s*\|.*)?
    )[.,;:!?)\]}]*""",
    re.VERBOSE,
)
_CODE_SIGNS: Final = frozenset("([.|")
_TYPE_STARTS: Final = frozenset("sSTB")
LONG: Final = 200
"""Number of characters from which a value can't be prose, code or a placeholder."""
_EDGE: Final = "*_`.,;:!?()[]{}<>\"'"
RANDOM_START: Final = re.compile(r"(?=[A-Za-z+/=_\-.%:~,|]{0,60}\d)[A-Za-z0-9+/=_\-.%:~,|]{12}")
"""Matches values that begin with random-looking letters and digits."""
_BY_FORM: Final = {  # form of a value, and whether it makes the value a secret
    Kind.OPAQUE: (re.compile(r"(?=\D*\d)[A-Za-z0-9+/=_\-.%:~,|]{12,}"), True),
    Kind.RANDOM: (
        re.compile(r"(?=\D*\d)(?=[^A-Z]*[A-Z])(?=[^a-z]*[a-z])[A-Za-z0-9+/=]{16,}"),
        True,
    ),
    Kind.COUNTABLE: (re.compile(r"[+-]?[\d.,_ %/]{1,12}[kKM]?"), False),
    Kind.DIRECTORY: (re.compile(r"(?:/|~|\.{1,2}/|[A-Za-z]:[\\/])[^\s]*"), False),
}


def quoted_end(text: str, start: int) -> tuple[int, int, int] | None:
    """Return start and end of the content and end of the quotation; None without a quotation.

    A quotation of JSON inside JSON opens with `\\"`: it closes with as many backslashes (or at a
    quote with fewer, where an outer text ends). Unclosed ones end with the line.
    """
    opening = _OPENING.match(text, start)
    if opening is None:
        return None
    inside, quote, level = opening.end(), opening["quote"], len(opening["slashes"])
    if quote in _CURLY:
        closed = text.find(_CURLY[quote], inside, inside + _CURLY_REACH)
        return None if closed < 0 else (inside, closed, closed + 1)
    return _closed(text, inside, quote, level)


def _closed(text: str, inside: int, quote: str, level: int) -> tuple[int, int, int]:
    """Return the quotation whose content begins at `inside`, opened after `level` backslashes."""
    for closing in _CLOSING[quote].finditer(text, inside):
        slashes = closing.end() - 1 - closing.start()
        even = (slashes - level) % (2 * level + 2) == 0 and _BEHIND.match(text, closing.end())
        if slashes <= level or even:
            return inside, closing.end() - 1 - min(slashes, level), closing.end()
    line_end = _LINE_END.search(text, inside)
    end = line_end.start() if line_end else len(text)
    return inside, end, end


def plain_end(
    text: str, start: int, pattern: re.Pattern[str] = PLAIN, reach: int = sys.maxsize
) -> int:
    """Return the end of the unquoted value that begins at `start`, at most `reach`."""
    position = start + len(MARK) if text.startswith(MARK, start) else start
    match = pattern.match(text, position, reach)
    return match.end() if match else position


def is_filler(value: str) -> bool:
    """Return whether an unquoted value is prose, code or a placeholder instead of a secret."""
    if len(value) >= LONG:
        return False
    if value.startswith(MARK) and not value[len(MARK) :].strip(_EDGE):
        return True
    bare = value.strip(_EDGE)
    if bare.lower() in vocabulary.ORDINARY or _is_placeholder(value):
        return True
    return _is_code(value) or (bare.isdecimal() and len(bare) < 3)


def _is_placeholder(value: str) -> bool:
    first = value[:1]
    return (not first.isalnum() or first in "xXrRfFhHmM") and (
        _PLACEHOLDER.fullmatch(value) is not None
    )


def _is_code(value: str) -> bool:
    return (value[:1] in _TYPE_STARTS or not _CODE_SIGNS.isdisjoint(value)) and (
        _CODE.fullmatch(value) is not None
    )


def is_secret(kind: Kind, value: str) -> bool:
    """Return whether a value is a secret, given the kind of its name."""
    value = encodings.uncoloured(value)
    if kind is Kind.AUTH:
        return value.strip(_EDGE + " ").lower() not in vocabulary.AUTH_MODES
    if kind not in _BY_FORM:
        return kind is not Kind.HARMLESS
    form, secret = _BY_FORM[kind]
    return (form.fullmatch(value.strip()) is not None) is secret
