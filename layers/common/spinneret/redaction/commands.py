"""Secrets on command lines and in the dialogues of protocols."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from spinneret.redaction import names, values
from spinneret.redaction.names import Kind
from spinneret.redaction.spans import MARK, Span

_OPTION: Final = re.compile(
    r"(?P<name>-(?<![\w\-]-)-?[A-Za-z][\w.\-]{1,60}+)"
    r"(?:[ \t]{1,4}|\\*[\"'],\s{0,20}\\*(?=[\"']))"
)
_SETTING: Final = re.compile(
    r"[SsEeAa](?<!\w.)(?i:(?<=s)et(?:x|env)?|(?<=e)(?:xport|nv)|(?<=a)rg)[ \t]+(?:-\w{1,3}[ \t]+)?"
    r"(?P<name>[\w./:\-]{2,80}+)[ \t]+(?=[^\s=:])"
)
_USER: Final = re.compile(
    r"(?P<option>-(?<![\w\-]-)(?:u|U|a|-auth|-user|-proxy-user))"
    r"(?:[ =]?\\*[\"']?|\\*[\"'],\s{0,20}\\*[\"'])"
    r"[^\s:\"'\\]{0,64}:(?P<secret>[^\s\"'\\]++)"
)
_COOKIE: Final = re.compile(
    r"-(?<![\w\-]-)(?:b|-cookie)[ =](?:\\*[\"'](?P<quoted>[^\r\n\"'\\=]{1,64}=[^\r\n\"'\\]*)"
    r"|(?P<bare>[^\s\"'\\=]{1,64}=[^\s\"'\\]*))"
)
_ONE_LETTER: Final = re.compile(  # programs whose -p, -a, -P or -w takes a password
    r"(?:sshpass|docker login|podman login|helm registry login|az login|mysql\w{0,8}|mariadb"
    r"|redis-cli|mongosh?|sqlcmd|htpasswd|ldapsearch|smbclient|xfreerdp)\b"
    r"[^\n]{0,100}?\s(?:-p|-a|-P|-w|/p:)[ ]?"
    r"(?P<secret>(?![\s\-]|\d{1,5}(?:\s|$))[^\s\"']{3,}+)"
)
_NETRC: Final = re.compile(r"login(?<!\wlogin)\s+\S{1,128}\s+password\s+(?P<secret>\S++)")
_ORACLE: Final = re.compile(
    r"(?:sqlplus|sqlldr|expdp|impdp)\s[^\n/@]{0,60}?\b\w{1,64}/(?P<secret>[^\s@\"'/]{1,128}+)(?=[@\s]|$)"
)
_OPENSSL: Final = re.compile(r"pass:(?<!\wpass:)(?P<secret>[^\s\"':]{3,}+)")
_PROTOCOL: Final = re.compile(  # SMTP (RFC 4954), Redis; FTP (RFC 959)
    r"(?:^|[\r\n])(?:AUTH(?: PLAIN| LOGIN| XOAUTH2| default)?|USER \S{1,100}\r?\nPASS)[ ]"
    r"(?P<secret>(?=[^\s]{0,60}\d)\S{4,}+)[ \t]{0,8}(?=[\r\n]|$)"
)
_USER_OPTIONS: Final = ("-u", "-U", "-a", "--auth", "--proxy-user", " -b", "--cookie")
_SETTING_WORDS: Final = ("set ", "setx ", "export ", "env ", "SET ", "EXPORT ", "ENV ", "ARG ")
_FIXED: Final = (
    (("-p", "-a", "-P", "-w", "/p:"), _ONE_LETTER),
    (("login",), _NETRC),
    (("sqlplus", "sqlldr", "expdp", "impdp"), _ORACLE),
    (("pass:",), _OPENSSL),
    (("AUTH ", "PASS "), _PROTOCOL),
)  # fmt: skip


def commanded(text: str) -> Iterator[Span]:
    """Options, settings and credentials of commands."""
    if " " not in text and "," not in text and not text.startswith("-"):
        return
    if "-" in text:
        yield from _options(text)
        if any(option in text for option in _USER_OPTIONS):
            yield from _users(text)
    if any(word in text for word in _SETTING_WORDS):
        yield from _settings(text)
    for anchors, pattern in _FIXED:
        if any(anchor in text for anchor in anchors):
            for match in pattern.finditer(text):
                yield Span(*match.span("secret"), MARK)


def _options(text: str) -> Iterator[Span]:
    """`--password hunter2`, `"--password", "hunter2"`."""
    for match in _OPTION.finditer(text):
        kind = names.kind_of(match["name"])
        if kind.certain or (kind is Kind.AUTH and match["name"].startswith("--")):
            yield from _word(text, match.end(), match["name"])


def _settings(text: str) -> Iterator[Span]:
    """`set aws_secret_access_key …`; names of one word are prose: `set token …`."""
    for match in _SETTING.finditer(text):
        if "_" in match["name"] and names.kind_of(match["name"]).certain:
            yield from _word(text, match.end(), match["name"])


def _word(text: str, start: int, name: str) -> Iterator[Span]:
    quotation = values.quoted_end(text, start)
    if quotation is not None:
        yield Span(quotation[0], quotation[1], MARK)
        return
    end = values.plain_end(text, start)
    if end == start or text.startswith("-", start) or values.is_template(text, start):
        return
    if end - start >= values.LONG or not values.is_filler(text[start:end], name):
        yield Span(start, end, MARK)


def _users(text: str) -> Iterator[Span]:
    """`curl -u bob:hunter2`, `http -a bob:hunter2`, `curl -b sid=…`; not `docker run -u 1:1`."""
    curl = "curl" in text
    for match in _USER.finditer(text):
        if match["option"] in {"-a", "--auth"} and "http" not in text:
            continue
        if curl or not match["secret"].isdigit():
            yield Span(*match.span("secret"), MARK)
    for match in _COOKIE.finditer(text) if curl else ():
        yield Span(*match.span("quoted" if match["quoted"] else "bare"), MARK)
