"""Secrets in sentences, links and loose schemes, where no sign parts them from their name."""

from __future__ import annotations

import base64
import re
from binascii import Error as NotBase64
from collections.abc import Iterator
from typing import Final

from spinneret.redaction import names, values
from spinneret.redaction.spans import MARK, Span

_SAID: Final = re.compile(
    r"(?P<noun>[AaCcOoPpSsTt](?<!\w.)(?i:(?<=a)(?:pi|ccess)[ _-]?key"
    r"|(?<=c)(?:redentials?|ookie|ode)|(?<=o)tp|(?<=s)ecret(?:[ _-]?key)?|(?<=t)oken"
    r"|(?<=p)(?:assword|asswd|assphrase|asscode|rivate[ _-]?key|in)))"
    r"(?:[ \t]+(?:for[ \t]+\S{1,60}+[ \t]+)?(?:is|was|are|to|as|of|value|set to|now)"
    r"(?:[ \t]+now)?:?[ \t]+|[ \t]+(?P<next>))"
    r"[\"'`\u201c\u2018(]?(?=[^\s\"'`\u201c\u201d\u2018\u2019()<>\d]*+\d)"
    r"(?P<secret>[^\s\"'`\u201c\u201d\u2018\u2019()<>]{4,}+)"
)
_REFUSED: Final = re.compile(  # what a provider says of the key that it quotes
    r"""(?:\b(?:(?:api|access|auth|secret|licen[sc]e|account|signing)[ _\-]?keys?|tokens?
          |credentials?|secrets?|passwords?|session(?:[ ]id)?|jwt|otp)
        (?:[ ](?:provided|supplied|given|used|sent|received|not|found|invalid|expired|revoked
           |unknown|mismatch|rejected|disabled|is|was|has|been|no|longer|valid|does|exist|value)
        ){1,6}
      | \b(?:authenti\w{4,10}|authori[sz]ation|login|sign-?in|access)
        [ ](?:failed|denied|error|refused)[ ](?:for|with|using)(?:[ ]the)?(?:[ ]api|[ ]access)?
        [ ](?:key|token))
        (?:[ ]?[:=(][ ]?(?:(?:got|received)[ ])?|[ ])[\"'`\u201c\u2018(<\[]?
        (?P<secret>[^\s\"'`\u201c\u201d\u2018\u2019()<>\[\]]{8,}+)""",
    re.VERBOSE | re.IGNORECASE,
)
_VERDICT: Final = re.compile(
    r"\b(?:[Kk]ey|KEY)[ ][\"'`(]?(?P<secret>(?=[^\s\d]*\d)(?=[^\sA-Z]*[A-Z])(?=[^\sa-z]*[a-z])"
    r"[A-Za-z0-9+/=_\-]{16,}+)[\"'`)]?[ ](?:is|was|has)[ ](?:been[ ]|not[ ]|no[ ]longer[ ])?"
    r"(?:valid|invalid|revoked|expired|disabled|unknown|rejected|wrong|blocked)"
)
_REFUSALS: Final = (
    "provided",
    "supplied",
    "given",
    "found",
    "nvalid",
    "xpired",
    "evoked",
    "failed",
    "denied",
    "rejected",
    "known",
    "refused",
    "match",
    "valid",
    "disabled",
)
_MIXED: Final = re.compile(r"(?=[^\d]*\d)(?=[^A-Za-z]*[A-Za-z])[^/\s]{5,}")
_PROCEDURE: Final = re.compile(  # what is said of secrets and mixes letters and digits too
    r"""base\d\d | sha | md5 | utf | http | v\d | aes | rsa | oauth | [er]s\d | hs\d | x\.?509
        | pkcs | ed25519 | bcrypt | argon | ascii | cl\d | gpt | line | col | ip | p\d | s3 | k8s
        | \d+[-\w]*?(?:bits?|bytes?|chars?|characters?|hours?|minutes?|days?|seconds?|m?s|x|%)\b
        | \d{4}-\d\d-\d\d | \d+(?:\.\d+)+ | [\d.,:%]+[a-z]{0,3}$ | [0-9a-f]{8}-""",
    re.VERBOSE | re.IGNORECASE,
)
_LEAST: Final = 8  # characters of a secret that directly follows its noun
_CODE: Final = re.compile(
    r"(?P<noun>[CcOoPp](?i:(?<=c)ode|(?<=o)tp|(?<=p)(?:in|asscode|assword)))"
    r"(?i:[ \t]+(?:is|code|now|=|:))?:?[ \t]+(?P<secret>\d{4,8})(?![\w.%]|[ ,]\d)"
)
_CODE_NAME: Final = re.compile(
    r"\b(?:(?:one[ -]time|verification|security|login|sign-in|mfa|2fa|sms|authenti\w{1,10})"
    r"[ -](?:code|pin|password)|otp|pin|passcode)$",
    re.IGNORECASE,
)
_LONGEST_NAME: Final = 40  # characters of such a name
_LINK: Final = re.compile(
    r"/(?:reset|verify|confirm|invit|magic|activat|password|token|session|auth|login|unlock)"
    r"[\w\-]{0,30}/(?P<secret>[\w\-.=]{20,}+)(?![\w/])"
)
_IDENTIFIER: Final = re.compile(  # UUID, hash, id of ours, file, slug
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{40}|[0-9a-f]{64}|[a-z]+_[0-9a-f]{32}"
    r"|[\w\-]+\.[a-z]{2,5}|[a-z]+(?:-[a-z0-9]+){2,}"
)
_SIGNATURE: Final = re.compile(
    r"ignature[\w\-]{0,10}\\*[\"']?\s?[:=]\s?\\*[\"']?"
    r"(?P<secret>(?:t=\d{1,20},)?(?:v\d\w?[=,]|sha\d{1,3}=)[^\s\"'\\]{16,}+)"
)
_SCHEME: Final = re.compile(
    r"(?P<scheme>[Bb](?:earer|EARER|asic|ASIC))(?:[ \t]{1,4}|%20|\+)"
    r"(?P<secret>[\w.~+/\-]{4,}+={0,2})"
)
_CHALLENGE: Final = frozenset({"realm=", "error=", "scope=", "charset="})  # RFC 6750, section 3


def spoken(text: str) -> Iterator[Span]:
    """All of this module."""
    yield from _said(text)
    yield from _refused(text)
    yield from _codes(text)
    for match in _SIGNATURE.finditer(text):
        yield Span(*match.span("secret"), MARK)
    if "/" in text:
        yield from _links(text)
    yield from _schemes(text)


def _said(text: str) -> Iterator[Span]:
    """`the password is hunter2`, `with token a1b2c3d4e5`: only what mixes letters and digits."""
    for match in _SAID.finditer(text):
        value = match["secret"].rstrip(".,;:!?)")
        if not _MIXED.fullmatch(value) or _PROCEDURE.match(value) or "=" in value[:-2]:
            continue
        noun = match["noun"].lower()
        if match["next"] is not None and (len(value) < _LEAST or noun in {"code", "cookie"}):
            continue
        if names.kind_of(noun).certain and not values.is_filler(value, noun):
            yield Span(match.start("secret"), match.start("secret") + len(value), MARK)


def _refused(text: str) -> Iterator[Span]:
    """`The API key provided (…) is invalid`, `Token not found: …`, `key … has expired`."""
    if not any(word in text for word in _REFUSALS):
        return
    for match in _REFUSED.finditer(text):
        value = match["secret"].rstrip(".,;:!?*")
        if _MIXED.fullmatch(value) and not (
            _PROCEDURE.match(value) or _IDENTIFIER.fullmatch(value)
        ):
            yield Span(match.start("secret"), match.start("secret") + len(value), MARK)
    for match in _VERDICT.finditer(text):
        yield Span(*match.span("secret"), MARK)


def _codes(text: str) -> Iterator[Span]:
    """`your verification code is 123456`."""
    for match in _CODE.finditer(text):
        end = match.end("noun")
        if _CODE_NAME.search(text, max(0, end - _LONGEST_NAME), end):
            yield Span(*match.span("secret"), MARK)


def _links(text: str) -> Iterator[Span]:
    """`https://site.example/reset-password/<token>`."""
    for match in _LINK.finditer(text):
        value = match["secret"]
        if _MIXED.fullmatch(value) and not _IDENTIFIER.fullmatch(value):
            yield Span(*match.span("secret"), MARK)


def _schemes(text: str) -> Iterator[Span]:
    """`Bearer …` and `Basic …` outside of a header."""
    for match in _SCHEME.finditer(text):
        is_credential = _is_basic if match["scheme"].lower() == "basic" else _is_bearer
        if is_credential(match["secret"]):
            yield Span(*match.span("secret"), MARK)


def _is_basic(value: str) -> bool:
    """Whether this is `user:password` in base64 (RFC 7617)."""
    try:
        decoded = base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except (NotBase64, ValueError):
        return False
    return b":" in decoded and decoded.isascii()


def _is_bearer(value: str) -> bool:
    """Whether this is a token (RFC 6750) rather than the next word of a sentence."""
    if value in _CHALLENGE or values.is_filler(value[: values.LONG], "bearer"):
        return False
    word = value.rstrip(".")
    return not (word.isalpha() and (word.islower() or word.istitle()) and len(word) < 20)
