"""Peak memory of the process that fetches a page, including decoders outside Python's heap.

The fetch runs in its own process, against a server in this one. For every hostile response, the
process may use the fetch's `max_bytes` and 32 MiB more.
"""

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import Final

import pytest

from spinneret.web import limits
from tests.conftest import ROOT
from tests.fakes.scripted_server import Behaviour, Exchange, ScriptedServer, head
from tests.integration.bombs import ballast, bomb, names
from tests.sampling import sampled, spread

MEBIBYTE: Final = 1024 * 1024
ALLOWANCE: Final = 32 * MEBIBYTE

SINGLE: Final = (("gzip",), ("deflate",), ("br 22",), ("br 23",), ("zstd 22",), ("zstd 23",))
LAYERED: Final = (
    ("gzip", "gzip"),
    ("br 23", "gzip"),
    ("gzip", "br 23"),
    ("zstd 23", "deflate"),
    ("gzip", "zstd 23"),
)
REFUSED: Final = (
    ("br 24",),
    ("zstd 24",),
    ("gzip", "br 24"),
    ("zstd 24", "gzip"),
    ("br 22", "br 22"),
    ("zstd 22", "br 22"),
    ("gzip",) * 3,
    ("br 24",) * 5,
    ("zstd 23",) * 5,
)
SIZES: Final = {
    "10 MB": (10 * 10**6, MEBIBYTE),
    "1 GB": (10**9, limits.FETCH_MAX_BYTES),
    "10 GB": (10 * 10**9, 50 * MEBIBYTE),
}
"""Decoded size of a bomb, and the fetch's limit (`max_bytes`), both in bytes."""
BOMBS: Final = [
    *itertools.product(SINGLE, SIZES),
    *itertools.product(LAYERED, ["10 GB"]),
]


def named(codings: str | Sequence[str]) -> str:
    if isinstance(codings, str):
        return codings
    return f"{len(codings)} x {codings[0]}" if len(codings) > 2 else " + ".join(codings)


def sending(codings: Sequence[str], body: Iterator[bytes]) -> Behaviour:
    """Return a behaviour that sends no Content-Length, which would end the fetch earlier."""

    def behave(exchange: Exchange) -> None:
        exchange.send(head(200, "Content-Type: text/html", f"Content-Encoding: {names(codings)}"))
        for piece in body:
            exchange.send(piece)

    return behave


def fetch_apart(server: ScriptedServer, behaviour: Behaviour, max_bytes: int) -> tuple[str, int]:
    """Fetch in another process; return the outcome and the peak growth beyond `max_bytes`."""
    server.behaviours["/page"] = behaviour
    done = subprocess.run(
        [
            *(sys.executable, "-m", "tests.integration.fetch_process"),
            *(server.url("/page"), server.pair, str(max_bytes)),
        ],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}/layers/common:{ROOT}"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    reported = json.loads(done.stdout)
    return reported["outcome"], reported["grown"] - max_bytes


@pytest.mark.parametrize("sent", sampled(spread(BOMBS, 6), quick=0, tested=6), ids=str)
def test_a_bomb_is_stopped_at_the_limit(
    server: ScriptedServer, sent: tuple[Sequence[str], str]
) -> None:
    codings, decoded = sent
    size, max_bytes = SIZES[decoded]
    body = sending(codings, bomb(codings, size))
    outcome, beyond = fetch_apart(server, body, max_bytes)
    assert outcome == "BodyTooLarge"
    assert beyond < ALLOWANCE


@pytest.mark.parametrize("codings", LAYERED, ids=named)
def test_windows_that_are_full_fit_beside_the_page(
    server: ScriptedServer, codings: Sequence[str]
) -> None:
    size, max_bytes = 19 * MEBIBYTE, 20 * MEBIBYTE
    outcome, beyond = fetch_apart(server, sending(codings, ballast(codings, size)), max_bytes)
    assert outcome == "page"
    assert beyond < ALLOWANCE


@pytest.mark.parametrize("codings", REFUSED, ids=named)
def test_codings_that_take_more_memory_than_that_are_refused(
    server: ScriptedServer, codings: Sequence[str]
) -> None:
    size, max_bytes = 45 * MEBIBYTE, 50 * MEBIBYTE
    outcome, beyond = fetch_apart(server, sending(codings, ballast(codings, size)), max_bytes)
    assert outcome == "ContentRefused"
    assert beyond < ALLOWANCE
