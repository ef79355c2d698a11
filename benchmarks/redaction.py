"""Measure the speed of redaction: ordinary texts, and the hardest input for each pattern.

    python benchmarks/redaction.py [--only PART_OF_A_NAME]

The command prints MB per second of processor time at 250 KB, 500 KB and 1 MB, and the seconds at 1
MB. If the speed falls with the size, a pattern is worse than linear. The last column is the time of
1 MB divided by the time of 250 KB, which is 4 for a linear pattern. The command fails above 8.
"""

import argparse
import base64
import json
import random
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "layers" / "common"))

from spinneret.redaction import redact

SIZES = (250_000, 500_000, 1_000_000)
SUSPICIOUS = 8.0  # 4 is linear, 16 quadratic

# Texts to repeat up to the size. Each tries to make one reader scan characters repeatedly.
REPEATED = {
    "nothing": "a",
    "blanks": " ",
    "lines": "\n",
    "name without value": "a.b-c_d[e]",
    "harmless names": "abc=",
    "secret names": "otp=",
    "secret names and colons": "pin: ",
    "nested names": "token=password=",
    "doubtful names": "sig=!",
    "doubtful names, quoted": 'sig="x',
    "doubtful names, curly quotes": "sig=“",
    "countable names": "tokens=1",
    "names that need a word before": "the key: a ",
    "fillers": "token: the ",
    "calls": "token=f(",
    "groups": "password={",
    "groups of quotes": 'password={"',
    "lists of names": "tokens=[",
    "objects in JSON": '"password":{',
    "lists in JSON": '"a":[',
    "opening brackets": "[",
    "opening objects": '{"',
    "false documents": '{"a":1}{"',
    "quotes": '"',
    "names and quotes": '"a":"',
    "escaped quotes": '\\"',
    "backslashes": "\\",
    "names behind backslashes": 'token=\\\\\\"',
    "values of signs": "token=,;&',",
    "values of ampersands": "token=a&b",
    "values of brackets": "token=)]}",
    "values of backslashes": "token=a\\b",
    "long words in a phrase": "passphrase: word word word word ",
    "YAML blocks": "token:\n  - a\n",
    "YAML depth": "token:\n ",
    "authorization": "Authorization: ",
    "authorization parameters": 'Authorization: Digest a="b", ',
    "cookies": "Cookie: a=b; ",
    "cookie pairs": "a=b; c=d, ",
    "set-cookie dates": "Set-Cookie: expires=Wed, 1 ",
    "scheme and slashes": "://",
    "user info": "https://a:b",
    "user info with slashes": "https://a:b/",
    "user info and signs": "://a:@",
    "hosts": "a:bcd@e:1",
    "parameters": "?code=a&key=b",
    "percent signs": "%",
    "percent-encoded": "%25",
    "percent-encoded names": "%74oken%3Da%26",
    "entities": "&quot;",
    "unicode escapes": "\\u0041",
    "full width": "\uff41\uff1d",
    "without width": "\u200b",
    "base64": "QUJD",
    "base64 words": base64.b64encode(b"password is none of it now").decode() + " ",
    "hexadecimal": "61",
    "JWT beginnings": "eyJ",
    "JWT beginnings apart": "eyJ-",
    "JWT parts": "eyJabcdefgh.",
    "SendGrid beginnings": "SG.aaaaaaaa-",
    "OpenAI beginnings": "sk-aaaa",
    "AWS ids": "AKIAIOSFODNN7EXAMPLE ",
    "AWS ids and secrets": "AKIAIOSFODNN7EXAMPLE wJalrXUtnFEMIxK7MDENGxbPxRfiCYFAKEKEY012 ",
    "Discord beginnings": "Ma.",
    "crypt": "$2b$",
    "eBay beginnings": "v^1.1#",
    "private keys that don't end": "-----BEGIN RSA PRIVATE KEY-----",
    "private keys and lines": "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA\n",
    "ends of private keys": "-----END RSA PRIVATE KEY-----",
    "options": "--password ",
    "option names": "--a.b-",
    "curl": "curl -u a:b ",
    "commands": "sshpass ",
    "netrc": "login a password ",
    "said": "password is ",
    "said without end": "the token ",
    "bearer": "Bearer a ",
    "elements": "<token>",
    "element names": "<token ",
    "insertions": "(password) values (",
    "insertion columns": "(a,",
    "validation": "password\n  a [type=a, input_value=",
    "records": '"name":"token",',
    "records, value first": '"value":"a","name":',
    "attributes": 'name="token" ',
    "attributes, value first": 'value="a" ',
    "pairs": '["token",',
    "parts of a form": 'name="token"\r\n',
    "YAML names": "name: token\nvalue: ",
    "CDATA": "<token><![CDATA[",
    "property lists": "<key>token</key><string>",
    "links": "/reset/abcdefghij0123456789/",
    "one-time codes": "otp code ",
    "signatures": "ignature=t=1,",
    "protocols": "\nAUTH a",
    "Python literals": "{'a': ",
    "option lists": '"--token", ',
    "bare bearer": "Bearer aB1_",
    "callbacks": "set('token', ",
    "slack": "hooks.slack.com/services/",
    "GitLab beginnings": "glpat-",
    "beginnings of many issuers": "ghp_sk-glpat-eyJ-",
    "triple quotes": "token='''a",
    "CSV": "token,name\na1b2c3d4,bob\n",
    "CSV with quoted cells": 'token,a\n"x,y",z\n',
    "Markdown tables": "token | a\n---|---\na1b2c3d4 | b\n",
    "rules of tables": "--|--\n",
    "password files": ":5432:a:b:c",
    "parameters that are refused": "for parameter token, value: a",
    "duplicates that are refused": "Duplicate entry 'a' for key 'token' ",
    "groups that are judged by parts": '"tokens":{"a":"b",',
    "groups in groups": '"tokens":{',
    "typed values": '"tokens":{"L":[{"S":"a"},',
    "objects of JavaScript": "auth: { user: 'a', ",
    "private keys without heads": f"{'MIIEowIBAAKCAQEA' * 4}\n-----END RSA PRIVATE KEY-----\n",
    "lines of base64": f"{'MIIEowIBAAKCAQEA' * 4}\n",
    "refusals": "the API key provided not found is ",
    "refused keys": "token not found: a1b2c3d4e5 ",
    "verdicts": "key aB1aB1aB1aB1aB1aB1 ",
    "calls that take secrets": "set_password('a', ",
    "calls that don't close": "set_password(",
    "Secrets of Kubernetes": "kind: Secret\ndata:\n  a: b\n",
    "Secrets of Kubernetes, apart": "kind: Secret\ndata:\n  a: b\n---\n",
    "Secrets of Kubernetes in JSON": '"kind":"Secret","data":{"a":"b",',
    "defaults": "{default=",
    "variables": 'variable "token" { default = "',
    "defaults in YAML": "token:\n  default: a\n",
    "rows of names": "| token | a1b2c3d4 |\n",
    "names above their values": "token:\n\n",
    "attributes near to values": 'name="token" v v v v ',
}


def main() -> None:
    """Print the table; exit with 1 if the time of an input grows worse than linearly."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--only", default="")
    wanted = parser.parse_args().only
    print(f"{'MB/s':<36}" + "".join(f"{size // 1000:>7}K" for size in SIZES) + "   s/MB  growth")
    slow = [name for name, make in inputs() if wanted in name and not measured(name, make)]
    if slow:
        sys.exit(f"worse than linear: {', '.join(slow)}")


def inputs() -> Iterator[tuple[str, Callable[[int], Any]]]:
    """Yield the name of each input, and a function that returns the input in a size."""
    yield "prose", prose
    yield "logs", logs
    yield "JSON text", lambda size: json.dumps(records(size))
    yield "JSON text in JSON text", lambda size: json.dumps({"body": json.dumps(records(size))})
    yield "JSON text, cut off", lambda size: json.dumps(records(size))[:-10]
    yield "short JSON, cut off", lambda size: [json.dumps(records(9_000))[:-10]] * (size // 9_000)
    yield "values", records
    yield "bytes", lambda size: logs(size).encode()
    for name, piece in REPEATED.items():
        yield name, lambda size, piece=piece: (piece * (size // len(piece) + 1))[:size]


def measured(name: str, make: Callable[[int], Any]) -> bool:
    """Print the row, and return whether the time grows about linearly with the size."""
    seconds = []
    for size in SIZES:
        value = make(size)
        started = time.process_time()
        redact(value)
        seconds.append(max(time.process_time() - started, 1e-6))
    speeds = "".join(f"{size / 1e6 / each:8.1f}" for size, each in zip(SIZES, seconds, strict=True))
    growth = seconds[-1] / seconds[0]
    print(f"{name:<36}{speeds}{seconds[-1]:7.2f}{growth:8.1f}", flush=True)
    return growth < SUSPICIOUS or seconds[-1] < 0.05


def prose(size: int) -> str:
    """Return a text of words, some of them about passwords and tokens."""
    source = random.Random(1)
    words = (
        "spider",
        "weaves",
        "silk",
        "token",
        "password",
        "of",
        "web",
        "secret",
        "cookie",
        "night",
    )
    text = " ".join(source.choice(words) for _ in range(size // 4))
    return text[:size]


def logs(size: int) -> str:
    """Return log lines with fields, URLs and, in some lines, a secret."""
    source = random.Random(2)
    lines = []
    while sum(map(len, lines[-1:])) + len(lines) * 150 < size * 1.2:
        number = source.randrange(10**9)
        lines.append(
            f'2026-01-01T00:00:00Z INFO request_id={number:x} url="https://site.example/{number}'
            f'?page={number % 7}" status=200 ms={number % 900} key=reports/{number}.pdf'
            + (f" token={number:x}" if number % 10 == 0 else "")
        )
    return "\n".join(lines)[:size]


def records(size: int) -> list[dict[str, Any]]:
    """Return objects such as the product logs and stores."""
    source = random.Random(3)
    return [
        {
            "id": f"job_{source.randrange(10**12):x}",
            "url": f"https://site.example/{number}",
            "token_count": number % 512,
            "message": "indexed the page",
            "headers": [{"name": "Accept", "value": "*/*"}],
            "password": "hunter2",
        }
        for number in range(size // 190)
    ]


if __name__ == "__main__":
    main()
