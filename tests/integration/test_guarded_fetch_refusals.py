"""Refusals name the limit and disclose nothing internal."""

import gzip

import pytest

from spinneret.kernel.errors import DomainError, FetchFailed
from spinneret.web import limits
from spinneret.web.fetching.addresses import AddressPolicy
from tests.fakes.guarded_fetch import (
    PAGE,
    ScriptedResolver,
    fetch,
    fetcher,
    names_no_address,
    request,
)
from tests.fakes.scripted_server import (
    HOST,
    Behaviour,
    ScriptedServer,
    answer,
    endless_chunks,
    head,
    raw,
    redirect,
    silence,
)

GZIP = "Content-Encoding: gzip"


@pytest.mark.parametrize("status", [200, 302, 500])
@pytest.mark.parametrize("field", ["X-{}: y", "Same: {}"])
def test_an_answer_has_a_bounded_number_of_header_fields(
    server: ScriptedServer, status: int, field: str
) -> None:
    most = limits.FETCH_MAX_HEADERS
    fields = [field.format(number) for number in range(most + 1)]
    server.fallback = answer(PAGE)
    for count in (most - 1, most):
        page = fetch(server, raw(head(status, "Location: /end", *fields[: count - 1])))
        assert page.status_code in {200, 500}
    with pytest.raises(FetchFailed, match=f"more than {most} header fields") as refusal:
        fetch(server, raw(head(status, "Location: /end", *fields[:most])))
    assert refusal.value.details == {"reason": "headers"}


@pytest.mark.parametrize(
    ("behaviour", "bounds", "limit"),
    [
        (answer(b"x" * 1001), {"max_bytes": 1000}, "larger than 1000 bytes"),
        (endless_chunks(100), {"max_bytes": 1000}, "larger than 1000 bytes"),
        (answer(gzip.compress(b"x" * 1001), GZIP), {"max_bytes": 1000}, "larger than 1000 bytes"),
        (answer(PAGE, GZIP, GZIP, GZIP), {}, "more than 2 content codings"),
        (
            answer(PAGE, "Content-Encoding: br, zstd"),
            {},
            "more than one content coding of br and zstd",
        ),
        (answer(PAGE, "Content-Encoding: compress"), {}, "none of gzip, deflate, br, zstd"),
        (answer(b"\x0f", "Content-Encoding: br"), {}, "a window over 8 MiB"),
        (raw(head(200, *["X: y"] * 201)), {}, "more than 200 header fields"),
        (redirect("/other"), {"max_redirects": 0}, "more than 0 times"),
        (redirect("/page"), {}, "site.test redirects in a circle"),
        (redirect("http://10.0.0.1:8/"), {}, "a host that must not be reached"),
        (silence, {"read_seconds": 0.1}, "did not answer: it was silent for 0.1 s"),
        (silence, {"total_seconds": 0.1}, "did not answer within 0.1 s"),
        (answer(PAGE), {"media_types": frozenset({"a/b", "c/d"})}, "text/html, none of a/b, c/d"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_refusal_names_its_limit_and_nothing_of_the_inside(
    server: ScriptedServer, behaviour: Behaviour, bounds: dict[str, object], limit: str
) -> None:
    server.behaviours["/page"] = behaviour
    guarded = fetcher(
        policy=AddressPolicy(frozenset({f"site.test:{server.port}"})),
        resolver=ScriptedResolver([HOST]),
    )
    with pytest.raises(DomainError) as refusal:
        guarded.fetch(request(f"http://site.test:{server.port}/page", **bounds))
    assert limit in refusal.value.message
    assert names_no_address(refusal.value, server.port)
    assert "10.0.0.1" not in refusal.value.message
