"""Passwords in the short options of known commands: `sshpass -p …`, `mysql -p…`, `redis-cli -a …`.

An option means a password to these commands only: `ssh -p` takes a port. So a form looks for its
command before the option, within the same command line or list of arguments.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from spinneret.redaction import values
from spinneret.redaction.spans import Form, Span, matches

_REACH: Final = 1000  # characters before an option within which its command begins
_LINE_END: Final = re.compile(r"(?<!\\)(?:\n|\\n)|;[ \t]|\|\|?[ \t]|&&")
_VARIABLE: Final = re.compile(r"\$[A-Za-z_]\w*")
_PORTS: Final = re.compile(r"\d{1,5}:\d{1,5}")  # Docker's `-p3306:3306` for a container `mysql`
_NEXT: Final = r"(?:[ \t=]|\\*[\"'],[ \t]?){1,4}+(?!-)"
_VALUE: Final = (
    r"(?:(?P<quote>\\*[\"'])(?=[^\s,:\])}]))?+"
    r"(?P<secret>(?(quote)[^\"'\\\r\n]{1,256}|[^\s\"'\\]{1,256}))"
)
_COOKIES: Final = (
    r"(?P<quote>\\*[\"'])?+(?P<secret>[^\s\"'\\=]{1,128}=(?(quote)[^\"'\\\r\n]|[^\s\"'\\])*+)"
)
_OWN: Final = r"(?<![\w\-])-"  # the hyphen of a short option
_THEN: Final = r"[\s\\\"',]{1,40}+"  # between two words of a command, also as a list of arguments

NAMES: Final = (
    r"(?:sshpass|mysql|mariadb|7z|redis-cli|mongo|docker|podman|helm|az|oc|rabbitmqadmin|ldap|(?:un)?zip"
    r"|sqlcmd|mosquitto_|curl|aws)\w*"
)
"""Pattern of the commands' names: a list of arguments after one may hold a password."""


def _is_value(match: re.Match[str]) -> bool:
    value = match["secret"]
    variable = values.TEMPLATE_START.match(value) or _VARIABLE.fullmatch(value)
    known = variable or _PORTS.fullmatch(value)
    return not known and (bool(match["quote"]) or not values.is_filler(value))


def _after(command: str) -> Callable[[re.Match[str]], bool]:
    """Return a test whether an option belongs to this command, and its value is no variable."""
    called = re.compile(rf"(?<![\w.\-])(?:{command})(?:\.exe)?(?![\w.\-])")

    def accepts(match: re.Match[str]) -> bool:
        before = match.string[max(0, match.start() - _REACH) : match.start()]
        line = _LINE_END.split(before)[-1]
        return called.search(line) is not None and _is_value(match)

    return accepts


_FORMS: Final = (
    Form(
        "sshpass",
        re.compile(
            rf"sshpass(?:[ \t]|\\*[\"'],[ \t]?\\*[\"']){{1,4}}(?:-v[ \t]+)?-p(?:{_NEXT})?{_VALUE}"
        ),
        _is_value,
    ),
    *(
        Form(literal, re.compile(rf"{_OWN}{option}{blank}{_VALUE}"), _after(command))
        for literal, command, option, blank in (
            ("mysql", r"mysql(?:dump|admin|import|show|check|pump|sh)?", "p", ""),
            ("mariadb", r"mariadb(?:-(?:dump|admin|import|show|check))?", "p", ""),
            ("7z", r"7z[ar]?", "p", ""),
            ("redis-cli", "redis-cli", r"(?:a|-pass)", _NEXT),
            ("mongo", r"mongo(?:sh|dump|restore|import|export)?", "p", _NEXT),
            ("login", rf"(?:docker|podman|registry|az|oc){_THEN}login", "p", _NEXT),
            ("rabbitmqadmin", "rabbitmqadmin", "p", _NEXT),
            ("ldap", r"ldap(?:search|modify|add|delete|passwd|whoami|compare)", "w", _NEXT),
            ("zip", r"(?:un)?zip", "P", _NEXT),
            ("sqlcmd", "sqlcmd", "P", _NEXT),
            ("mosquitto_", r"mosquitto_(?:pub|sub|rr)", "P", _NEXT),
            ("curl", "curl", r"(?:-proxy)?-pass", _NEXT),
        )
    ),
    # `curl -u bob:hunter2`
    Form(
        "curl",
        re.compile(
            r"(?<![\w\-])(?:-[A-Za-z#]{0,9}[uU]|--(?:proxy-)?user(?=[ \t=\\\"']))"
            r"(?:[ \t=]|\\*[\"'],[ \t]?){0,4}+(?P<quote>\\*[\"'])?[^\s:\"'\\]{0,64}+:"
            r"(?P<secret>(?(quote)[^\"'\\\r\n]{1,256}|[^\s\"'\\]{1,256}))"
        ),
        _after("curl"),
    ),
    # `curl --cert client.pem:hunter2`
    Form(
        "curl",
        re.compile(
            rf"{_OWN}(?:[A-Za-z#]{{0,9}}E|(?:-proxy)?-cert){_NEXT}(?P<quote>\\*[\"'])?+(?!pkcs11:)"
            r"(?(quote)[^:\"'\\\r\n]{1,256}|[^\s:\"'\\]{1,256}):"
            r"(?P<secret>(?(quote)[^\"'\\\r\n]{1,256}|[^\s\"'\\]{1,256}))"
        ),
        _after("curl"),
    ),
    # `curl -b 'sid=hunter2; theme=dark'`; without `=` it is a file
    Form("curl", re.compile(rf"{_OWN}[A-Za-z#]{{0,9}}b{_NEXT}{_COOKIES}"), _after("curl")),
    # `aws configure set aws_secret_access_key …`
    Form(
        "configure",
        re.compile(
            rf"configure{_THEN}set{_THEN}aws_(?:secret_access_key|session_token){_NEXT}{_VALUE}"
        ),
        _is_value,
    ),
)


def commanded(text: str) -> Iterator[Span]:
    """Yield the passwords that known commands take by short options."""
    yield from matches(_FORMS, text)


def hidden_arguments(arguments: Sequence[object]) -> set[int]:
    """Return the places of arguments with a password in a list such as `["sshpass", "-p", …]`."""
    text, begins = "", list[int]()
    for argument in arguments:
        begins.append(len(text))
        text += f'"{argument}", ' if isinstance(argument, str) else ", "
    return {bisect_right(begins, span.start) - 1 for span in commanded(text)}
