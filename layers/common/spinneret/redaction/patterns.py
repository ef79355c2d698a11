"""Secrets recognised by their surroundings: in URLs, sentences, markup, options."""

import base64
import re
from binascii import Error as NotBase64
from collections.abc import Callable, Iterator
from typing import Final

from spinneret.redaction import encodings, names, values, vocabulary
from spinneret.redaction.names import Kind
from spinneret.redaction.spans import Form, Span, matches

_HOST_USER: Final = r":\\{0,31}/\\{0,31}/(?P<user>[^\s/?#:@\"'<>\[\]\\]{0,256}+)"  # RFC 3986, 3.2.1
_STANDS_FOR_NO_PASSWORD: Final = frozenset({"", "x", "x-oauth-basic", "api_token", "unused"})
_USER_TOKEN: Final = re.compile(r"(?=\D*\d)(?=[^A-Za-z]*[A-Za-z])[\w.\-%~+=]{16,}")
_HASH: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_CREDENTIAL: Final = re.compile(r"(?=[^&]*\d)(?=[^&]*[A-Za-z])[A-Za-z0-9_\-%/.~+]{16,}")
_FILE: Final = re.compile(r".*(?:/|%2[Ff]).*|.*\.[a-z]{2,5}")
_IDENTIFIER: Final = re.compile(  # hash, UUID, own id, file, slug
    rf"{_HASH.pattern}|[a-z]+_[0-9a-f]{{32}}|[\w\-]+\.[a-z]{{2,5}}|[a-z]+(?:-[a-z0-9]+){{2,}}"
)
_MIXED: Final = re.compile(r"(?=[^\d]*\d)(?=[^A-Za-z]*[A-Za-z])[^/\s]{5,}")
_PROCEDURE: Final = re.compile(  # words with digits that describe secrets
    r"(?i)base\d\d|sha|md5|utf|http|v\d|aes|rsa|oauth|[er]s\d|hs\d|x\.?509|pkcs|ed25519|bcrypt|argon"
    r"|ascii|cl\d|gpt|line|col|ip|p\d|s3|k8s|\d{4}-\d\d-\d\d|\d+(?:\.\d+)+|[0-9a-f]{8}-"
    r"|[\d.,:%]+[a-z]{0,3}$|\d+[-\w]*?(?:bits?|bytes?|chars?|characters?|hours?|minutes?|days?"
    r"|seconds?|m?s|x|%)\b"
)
_REFUSED: Final = re.compile(
    r"(?:failed|denied|error|refused) (?:for|with|using)(?: the)?(?: api| access)? $", re.IGNORECASE
)
_CODE_NAME: Final = re.compile(
    r"(?i)\b(?:(?:one[ -]time|verification|security|login|sign-in|mfa|2fa|sms|authenti\w{1,10})[ -]"
    r"(?:code|pin|password)|otp|pin|passcode)$"
)
_CODE: Final = re.compile(r"\d{4,8}")
_REACH: Final = 40  # characters before a noun that qualify it
_ADJACENT: Final = 8  # minimum characters of a secret directly after its noun
_SAID: Final = re.compile(r"(?i)\b(?:is|was|are|to|as|of|value|now)$")
_CHALLENGE: Final = frozenset({"realm=", "error=", "scope=", "charset="})  # RFC 6750, section 3


def _is_user_token(match: re.Match[str]) -> bool:
    password = match["password"]
    no_password = password is not None and password.lower() in _STANDS_FOR_NO_PASSWORD
    return no_password or _USER_TOKEN.fullmatch(match["secret"]) is not None


def _is_argument(match: re.Match[str]) -> bool:
    name, kind = match["name"], names.kind_of(match["name"])
    announced = kind.certain or (kind is Kind.AUTH and name.startswith("--"))
    return announced and (bool(match["quote"]) or not values.is_filler(match["secret"]))


def _is_credential(match: re.Match[str]) -> bool:
    """Return whether an ambiguous parameter holds a credential.

    Such parameters are `code` (RFC 6749, 4.1.2) and Google's `key`.
    """
    value = match["secret"]
    if _CREDENTIAL.fullmatch(value) is None or _HASH.fullmatch(value) is not None:
        return False
    return match["name"].lower() == "code" or _FILE.fullmatch(value) is None


def _is_link_token(match: re.Match[str]) -> bool:
    value = match["secret"]
    return _MIXED.fullmatch(value) is not None and not _IDENTIFIER.fullmatch(value)


def _is_said(match: re.Match[str]) -> bool:
    """Return whether a word of a sentence is a one-time code or mixes letters and digits.

    Such words are secrets if the sentence is about one.
    """
    value, noun, about = match["secret"], match["noun"].lower(), match["about"]
    before = match.string[max(0, match.start() - _REACH) : match.start()]
    if noun == "code" or value.isdecimal():
        return _CODE.fullmatch(value) is not None and bool(_CODE_NAME.search(before + noun))
    if not _MIXED.fullmatch(value) or _PROCEDURE.match(value):
        return False
    refused = _REFUSED.search(before) if noun == "key" else about and not _SAID.search(about)
    if refused:
        return len(value) >= _ADJACENT and not _IDENTIFIER.fullmatch(value)
    if not names.kind_of(noun).certain or (
        not about and (len(value) < _ADJACENT or noun == "cookie")
    ):
        return False
    return "=" not in value[:-2] and not values.is_filler(value)


def _is_authorization(match: re.Match[str]) -> bool:
    """Return whether a token (RFC 6750) or base64 of user and password (RFC 7617) follows."""
    value = match["secret"]
    if match["scheme"].lower() == "basic":
        try:
            meaning = base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
        except (NotBase64, ValueError):
            return False
        return b":" in meaning and meaning.isascii()
    word = value.rstrip(".")
    in_prose = word.isalpha() and (word.islower() or word.istitle()) and len(word) < 20
    return not (in_prose or value in _CHALLENGE or values.is_filler(value))


def _is_of_netrc(match: re.Match[str]) -> bool:
    return match["secret"].lower() not in vocabulary.ORDINARY


def _is_named(match: re.Match[str]) -> bool:
    value = encodings.uncoloured(match["secret"])
    kind = names.kind_of(match["name"].rpartition(":")[2])
    return bool(value.strip()) and values.is_secret(kind, value)


def _form(
    literal: str, pattern: str, accepts: Callable[[re.Match[str]], bool] | None = None
) -> Form:
    return Form(literal, re.compile(pattern), accepts)


_NAME: Final = r"(?P<name>[\w.:\-\[\]]{2,200}+)"
_WORD: Final = r"[^\s\"'`\u201c\u201d\u2018\u2019()<>\[\]]"
_BLANKS: Final = r"(?:\s|\\{1,8}[nrt]){1,20}"  # line ends may be escaped
_OPEN_QUOTE: Final = r"\\*[\"'`\u201c\u2018(<\[]?"
_FORMS: Final = (
    # Credentials before a host. A password may contain `/`, `?` or `#` unescaped; a port in its
    # place means there is none. A user may be a mail address, or a token without a password.
    _form(
        "@",
        rf"{_HOST_USER}(?:@[\w.\-]{{1,253}}+)?+:(?P<secret>[^\s/?#\"'<>`\\]{{1,1024}}(?=@(?:[^\s@\"'<>]|$))"
        r"|(?!\d{1,5}(?:[/?#]|$))[^\s\"'<>`\\@]{1,256}+"
        r"(?=@[\w.\-]{1,253}(?::\d{1,5})?(?:[/?\s\"'<>,;]|$)))@",
    ),
    _form(
        "@",
        rf"{_HOST_USER.replace('user', 'secret')}(?::(?P<password>[^\s/?#\"'<>`\\]{{0,1024}}))?@"
        r"(?=[^\s@\"'<>]|$)",
        _is_user_token,
    ),
    # Credentials without slashes: a proxy, Python's parsed URLs.
    _form(
        "@",
        r"(?<![\w./:@\-])(?!mailto:|sip:)[\w.\-]{1,64}+:(?P<secret>[^\s@:/\"'<>]{3,128}+)"
        r"@[\w.\-]{1,253}:\d{2,5}\b",
    ),
    _form("@", r"netloc\W{1,8}b?[\"'][^\s\"':@]{0,256}:(?P<secret>[^\s\"']{1,1024})@"),
    # Ambiguous query parameters, and links with a token.
    _form(
        "=",
        r"[?&#;](?P<name>(?i:code|key|ticket|appid|k))=(?P<secret>[^&#;\s\"'<>`|\\)\],]++)",
        _is_credential,
    ),
    _form(
        "/",
        r"/(?:reset|verify|confirm|invit|magic|activat|password|token|session|auth|login|unlock)"
        r"[\w\-]{0,30}/(?P<secret>[\w\-.=]{20,}+)(?![\w/])",
        _is_link_token,
    ),
    # `the password is hunter2`, `with token a1b2c3d4e5`, `The API key provided (…) is invalid`
    _form(
        "",
        r"(?P<noun>[AaCcJjKkLlOoPpSsTt](?<!\w.)(?i:(?<=a)(?:pi|ccess|uth|ccount)[ _\-]?keys?"
        r"|(?<=l)icen[sc]e[ _\-]?keys?|(?<=s)(?:igning[ _\-]?keys?|ecrets?(?:[ _\-]?keys?)?"
        r"|ession(?: id)?)|(?<=c)(?:redentials?|ookie|ode)|(?<=j)wt|(?<=k)ey|(?<=o)tp|(?<=t)okens?"
        r"|(?<=p)(?:asswords?|asswd|assphrase|asscode|rivate[ _\-]?key|in)))"
        r"(?P<about>(?:[ \t]+(?i:a(?:re|s)|been|d(?:isabled|oes)|ex(?:ist|pired)|found|given|has"
        r"|for[ \t]+\S{1,60}+|i(?:s|nvalid)|longer|mismatch|no[tw]?|of|provided|re(?:ceived|jected"
        r"|voked)|s(?:ent|et|upplied)|to|u(?:sed|nknown)|val(?:id|ue)|was)\b){1,6}+)?+"
        rf"(?(about)(?: ?[:=] ?(?:(?:got|received) )?|[ \t]+)|[ \t]+){_OPEN_QUOTE}"
        rf"(?={_WORD[:-1]}\d]{{0,60}}+\d)(?P<secret>{_WORD}{{4,}}(?<![.,;:!?*)\\]))",
        _is_said,
    ),
    # `key … has expired`
    _form(
        " ",
        r"[Kk](?<!\w.)(?:ey|EY) \\*[\"'`(]?(?P<secret>(?=[^\s\d]*\d)(?=[^\sA-Z]*[A-Z])"
        r"(?=[^\sa-z]*[a-z])[A-Za-z0-9+/=_\-]{16,}+)\\*[\"'`)]? (?:is|was|has) "
        r"(?:been |not |no longer )?"
        r"(?:valid|invalid|revoked|expired|disabled|unknown|rejected|wrong|blocked)",
    ),
    _form(
        "ignature",
        r"ignature[\w\-]{0,10}\\*[\"']?\s?[:=]\s?\\*[\"']?"
        r"(?P<secret>(?:t=\d{1,20},)?(?:v\d\w?[=,]|sha\d{1,3}=)[^\s\"'\\]{16,}+)",
    ),
    _form(
        "",
        r"(?P<scheme>[Bb](?i:earer|asic))(?:[ \t]{1,4}|%20|\+|\\{1,31} )(?P<quote>\\*[\"'])?+"
        r"(?P<secret>[\w.~+/\-]{4,}+={0,2})(?(quote)(?P=quote))",
        _is_authorization,
    ),
    # `--password hunter2`
    _form(
        "-",
        r"(?P<name>-(?<![\w\-]-)-?[A-Za-z][\w.\-]{1,60}+)[ \t]{1,4}(?!-)(?P<quote>\\*[\"'])?"
        rf"(?P<secret>(?<=[\"'])[^\"'\\\r\n]++|(?:\[redacted\])?+{values.PLAIN.pattern}?+)",
        _is_argument,
    ),
    # A line of .netrc, whose password may be a word
    _form(
        "login",
        rf"(?:\bmachine{_BLANKS}[^\s.]{{1,63}}\.\S{{1,253}}|\bdefault)"
        rf"(?:{_BLANKS}(?:login|account){_BLANKS}\S{{1,253}}){{1,2}}"
        rf"{_BLANKS}password{_BLANKS}\\*[\"']?(?P<secret>[^\s\"'\\]{{1,256}})",
        _is_of_netrc,
    ),
    # `<password>…</password>`, even if cut off
    _form(
        ">",
        r"<(?P<name>[A-Za-z_][\w.:\-]{1,60}+)(?:\s[^<>]{0,200})?>(?P<data>\s{0,80}<!\[CDATA\[)?+"
        r"(?P<secret>(?(data)[^\]]{1,4096}+(?=\]\]>)|(?:[^<>\s]++\Z|[^<>]++(?=</))))",
        _is_named,
    ),
    # One part of a form (RFC 7578, section 4.2)
    _form(
        "name=",
        rf"name=\\*[\"']{_NAME}\\*[\"'](?:;[^\r\n]{{0,200}})?\r?\n"
        r"(?:[\w\-]{1,60}:[^\r\n]{0,200}\r?\n){0,5}\r?\n(?P<secret>[^\r\n]++)",
        _is_named,
    ),
    # Values quoted by validators: pydantic, botocore, AWS services
    _form(
        "input_value=",
        rf"(?m)^{_NAME}\n  [^\n]{{1,300}}?\[type=\w+, "
        r"input_value=(?P<secret>[^\n]{1,300}), input_type",
        _is_named,
    ),
    _form(
        ", value: ",
        rf"for parameter {_NAME}, value: (?P<secret>(?:[^\n,]|,(?! type: <| valid ))++)",
        _is_named,
    ),
    _form("Value '", rf"Value '(?P<secret>[^\n']++)' at '{_NAME}' failed", _is_named),
)
_ATTRIBUTE: Final = re.compile(
    r"[<>VvCcNnKkIiPpFf](?:(?P<border>(?<=[<>]))|(?<!\w.)(?i:(?:(?<=v)alue|(?<=c)ontent)\s?=\s?"
    r"\\*[\"']?(?P<secret>(?<=[\"'])[^\"'<>\\]++|[^\s\"'<>\\]++)"
    rf"|(?:(?<=n)ame|(?<=k)ey|(?<=i)d|(?<=p)roperty|(?<=f)ield)\s?=\s?\\*[\"']?{_NAME}))"
)
_NEAR: Final = 200  # maximum characters between two attributes of one element


def patterns(text: str) -> Iterator[Span]:
    """Yield the secrets that the patterns of this module find."""
    yield from matches(_FORMS, text)
    if "=" in text:
        yield from _attributes(text)


def _attributes(text: str) -> Iterator[Span]:
    """Yield values of attribute pairs such as `name="token" value="…"`, in either order."""
    kind, name, value = Kind.HARMLESS, 0, None
    for match in _ATTRIBUTE.finditer(text):
        if match.lastgroup == "border":
            kind, value = Kind.HARMLESS, None
        elif match["secret"]:
            value = match
        elif (named := names.kind_of(match["name"])) is not Kind.HARMLESS:
            kind, name = named, match.start()
        if value and abs(name - value.start()) <= _NEAR and values.is_secret(kind, value["secret"]):
            yield Span(*value.span("secret"))
            kind, value = Kind.HARMLESS, None
