from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinneret.kernel.errors import (
    ContentRefused,
    DomainError,
    HttpRefused,
    HttpUnavailable,
    UrlBlocked,
    UrlInvalid,
)
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.fetching.models import FetchRequest
from spinneret.web.fetching.rules import (
    check_url_at_submission,
    parse_retry_after,
    require_success,
)
from spinneret.web.fetching.urls import parse_url
from tests.fakes.fetching import fetched_page
from tests.rows import each_row
from tests.unit.web.fetching.cases import Case, table

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@table("urls", "submission")
def test_a_url_that_leads_inside_is_refused_at_submission(case: Case) -> None:
    if case["expected"] == "accepted":
        assert check_url_at_submission(case["input"], AddressPolicy()).text == case["input"]
        return
    with pytest.raises(UrlBlocked) as refusal:
        check_url_at_submission(case["input"], AddressPolicy())
    assert [each["path"] for each in refusal.value.details["fields"]] == ["url"]


@pytest.mark.parametrize(
    "pair", ["127.0.0.1:9000", "localhost:80", "[::1]:8080", "site.example:25"]
)
def test_a_refusal_names_the_setting_that_would_allow_the_address(pair: str) -> None:
    with pytest.raises(UrlBlocked) as refusal:
        check_url_at_submission(f"http://{pair}/a", AddressPolicy())
    assert refusal.value.details["fields"][0]["hint"].endswith(f"make set FetchAllowed={pair}")
    assert check_url_at_submission(f"http://{pair}/a", AddressPolicy(frozenset({pair})))


def test_submission_takes_the_named_pairs_and_no_others() -> None:
    policy = AddressPolicy(
        frozenset({"127.0.0.1:8484", "localhost:8484", "127.0.0.1:9001"}),
        denied=frozenset({"127.0.0.1:9001"}),
    )
    assert check_url_at_submission("http://127.0.0.1:8484/a", policy).port == 8484
    assert check_url_at_submission("http://0x7f.1:8484/a", policy).host == "127.0.0.1"
    assert check_url_at_submission("http://localhost:8484/a", policy)
    for url in ("http://127.0.0.1:8485/", "http://[::1]:8484/", "http://127.0.0.1:9001/"):
        with pytest.raises(UrlBlocked):
            check_url_at_submission(url, policy)


@pytest.mark.parametrize("port", [0, 1, 22, 25, 53, 110, 143, 587, 993, 6000, 6667, 6679, 10080])
def test_a_bad_port_is_refused_unless_the_deployment_names_it(port: int) -> None:
    url = f"http://site.example:{port}/"
    if port:
        with pytest.raises(UrlBlocked) as refusal:
            check_url_at_submission(url, AddressPolicy())
        assert refusal.value.message == f"port {port} of site.example must not be reached"
        named = AddressPolicy(frozenset({f"site.example:{port}"}))
        assert check_url_at_submission(url, named).port == port
    assert not AddressPolicy().permits("site.example", port, "93.184.216.34")


@pytest.mark.parametrize("port", [80, 81, 443, 3000, 8000, 8080, 8443, 9000, 65535])
def test_a_port_for_the_web_is_taken(port: int) -> None:
    assert check_url_at_submission(f"http://site.example:{port}/", AddressPolicy()).port == port
    assert AddressPolicy().permits("site.example", port, "93.184.216.34")


@pytest.mark.parametrize("host", ["home.arpa", "router.home.arpa", "router.home.arpa."])
def test_a_name_of_a_home_network_is_refused(host: str) -> None:
    with pytest.raises(UrlBlocked):
        check_url_at_submission(f"http://{host}/", AddressPolicy())
    assert check_url_at_submission("http://home.arpa.example/", AddressPolicy())


def test_an_invalid_url_is_invalid_at_submission() -> None:
    with pytest.raises(UrlInvalid):
        check_url_at_submission("ftp://localhost/", AddressPolicy())


def test_a_fetch_and_each_of_its_silences_take_30_seconds_at_most() -> None:
    request = FetchRequest(url=parse_url("http://example.com/"))
    assert (request.total_seconds, request.read_seconds) == (30, 30)


@pytest.mark.parametrize("status", [200, 201, 203, 206])
def test_success_with_a_body_passes(status: int) -> None:
    require_success(fetched_page("http://example.com/", status_code=status), NOW)


@each_row(
    (ascii(row), row)
    for row in [
        (200, b"", ContentRefused),
        (204, b"", ContentRefused),
        (205, b"x", ContentRefused),
        *((status, b"x", HttpRefused) for status in (300, 301, 302, 304, 307, 308)),
        *((status, b"x", HttpRefused) for status in (400, 401, 403, 404, 410, 418, 451, 499)),
        *((status, b"x", HttpUnavailable) for status in (408, 425, 429, 500, 502, 503, 504, 599)),
    ]
)
def test_any_other_answer_is_an_error(row: tuple[int, bytes, type[DomainError]]) -> None:
    status, body, error = row
    page = fetched_page("http://example.com/", body, status_code=status)
    with pytest.raises(error) as refusal:
        require_success(page, NOW)
    assert refusal.value.details == {"status_code": status}
    assert refusal.value.message.startswith("example.com answered")


def test_the_hosts_retry_after_is_passed_on() -> None:
    page = fetched_page("http://example.com/", status_code=429, headers={"retry-after": "120"})
    with pytest.raises(HttpUnavailable) as refusal:
        require_success(page, NOW)
    assert refusal.value.retry_after == 120


@each_row(
    (ascii(row), row)
    for row in [
        ("0", 0),
        (" 17 ", 17),
        ("3601", 3600),
        ("9" * 5000, 3600),
        ("Sun, 01 Mar 2026 12:01:00 GMT", 60),
        ("Sunday, 01-Mar-26 12:01:00 GMT", 60),
        ("Sun, 01 Mar 2026 13:01:00 +0100", 60),
        ("Sun, 01 Mar 2026 12:01:00 -0000", 60),
        ("Sun, 01 Mar 2026 11:00:00 GMT", 0),
        ("Mon, 02 Mar 2026 12:00:00 GMT", 3600),
        ("", None),
        ("-5", None),
        ("1.5", None),
        ("soon", None),
        ("120, 120", None),
        ("\u0662", None),
    ]
)
def test_retry_after_is_seconds_or_a_date(row: tuple[str, float | None]) -> None:
    value, seconds = row
    assert parse_retry_after(value, NOW) == seconds


@given(st.one_of(st.text(), st.from_regex(r"\w{3}, \d+ \w{3} \d+ \d+:\d+:\d+ [+-]?\w+")))
def test_any_retry_after_is_bounded_or_ignored(value: str) -> None:
    seconds = parse_retry_after(value, NOW)
    assert seconds is None or 0 <= seconds <= 3600
