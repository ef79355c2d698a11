"""The status page, badges and metrics show public data and nothing else."""

import re
from dataclasses import replace
from datetime import timedelta
from xml.etree import ElementTree as ET

import pytest

from spinneret.kernel.errors import FetchTimeout
from spinneret.monitoring.notices import limits as notice_limits
from spinneret.monitoring.notices.service import NoticeService
from spinneret.monitoring.rollups.models import Rollup
from spinneret.monitoring.status_page import limits, rules
from spinneret.monitoring.status_page.models import StatusPage
from spinneret.monitoring.status_page.service import StatusPages
from spinneret.monitoring.targets.models import Options, Status
from tests.fakes.checking import CheckWorld
from tests.fakes.monitoring import FakeNoticeStore, FakeStatusPageStore
from tests.unit.runtime.api import Answer
from tests.unit.served import Served
from watch import notices_routes, status_routes

EVIL = "<script>alert(1)</script>"


@pytest.fixture
def notices() -> FakeNoticeStore:
    return FakeNoticeStore()


@pytest.fixture
def stored_pages() -> FakeStatusPageStore:
    return FakeStatusPageStore()


@pytest.fixture
def posting(
    world: CheckWorld, notices: FakeNoticeStore, stored_pages: FakeStatusPageStore
) -> Served:
    service = NoticeService(
        store=notices, pages=stored_pages, clock=world.clock, new_id=world.new_id
    )
    return Served(notices_routes.routes.router, service)


@pytest.fixture
def served(
    world: CheckWorld, notices: FakeNoticeStore, stored_pages: FakeStatusPageStore
) -> Served:
    pages = StatusPages(
        pages=stored_pages,
        targets=world.watch,
        figures=world.watch,
        notices=notices,
        maintenance=world.maintenance,
        clock=world.clock,
    )
    return Served(status_routes.routes.router, pages)


def published(served: Served, slug: str = "silk", title: str = "Silk Shop") -> Answer:
    return served.send("PUT", "/v1/status-page", {"slug": slug, "title": title})


def page(served: Served, slug: str = "silk") -> str:
    answer = served.send("GET", f"/status/{slug}")
    assert answer.status == 200
    return answer.text


def down(world: CheckWorld, url: str, **options: object) -> str:
    world.sites.answers[url] = FetchTimeout("too slow")
    target_id = world.target(url, public=True, **options)
    for _ in range(3):
        world.check(target_id)
    return target_id


def test_nothing_is_public_until_its_owner_says_so(served: Served, world: CheckWorld) -> None:
    world.target("https://hidden.example/")
    assert served.send("GET", "/status/silk").status == 404
    assert served.send("GET", "/v1/status-page").status == 404
    assert published(served).status == 200
    text = page(served)
    assert "Nothing to show yet" in text
    assert "hidden.example" not in text


# covers M-04
def test_the_page_says_how_public_targets_are(served: Served, world: CheckWorld) -> None:
    published(served)
    fine = world.target("https://fine.example/", public=True, name="Front")
    world.check(fine)
    assert "All services are up" in page(served)
    down(world, "https://broken.example/")
    text = page(served)
    assert "One service is down" in text
    assert re.search(r'Front</span><span class="is good">up<', text)
    assert re.search(r'broken.example</span><span class="is bad">down<', text)
    assert "Since 2026-01-02" in text


def many(world: CheckWorld, number: int) -> list[str]:
    """Create public targets that are up, without the fake's scan of all others for each one."""
    ids = []
    for each in range(number):
        made = world.targets.draft("acme", f"https://h{each}.example/", Options(public=True))
        state = replace(made.state, status=Status.UP)
        world.watch.rows["acme", made.target.id] = replace(made, state=state)
        ids.append(made.target.id)
    return ids


def test_the_page_counts_more_targets_than_it_shows(served: Served, world: CheckWorld) -> None:
    published(served)
    many(world, 50)
    assert "more" not in page(served)
    many(world, 12)
    text = page(served)
    assert "All services are up" in text
    assert text.count('class="name"') == 50
    assert "and 12 more" in text


def test_what_is_down_is_shown_however_many_there_are(served: Served, world: CheckWorld) -> None:
    published(served)
    ids = many(world, 60)
    name = "acme", ids[55]
    standing = world.watch.rows[name]
    troubled = replace(standing.state, status=Status.DOWN)
    world.watch.rows[name] = replace(standing, state=troubled)
    text = page(served)
    assert "One service is down" in text
    assert re.search(r'h55.example</span><span class="is bad">down<', text)
    assert "and 10 more" in text
    world.maintenance.targets.add(ids[55])
    assert "All services are up" in page(served)


def test_a_page_never_speaks_of_targets_that_it_did_not_read(
    served: Served, world: CheckWorld
) -> None:
    published(served)
    many(world, 501)
    text = page(served)
    assert "The first 500 services are up" in text
    assert "and more than 450 more" in text


def test_the_page_runs_nothing_and_loads_nothing_from_elsewhere(
    served: Served, world: CheckWorld
) -> None:
    published(served, title=f"{EVIL}&")
    world.check(world.target("https://fine.example/", public=True, name=f'{EVIL}"'))
    answer = served.send("GET", "/status/silk")
    assert "<script" not in answer.text
    loaded = re.findall(r"""(?:src|href|url\()[^ >]*""", answer.text)
    assert loaded == ['href="silk/feed.xml"']
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"


def test_maintenance_and_pauses_are_no_outage(served: Served, world: CheckWorld) -> None:
    published(served)
    first = down(world, "https://one.example/")
    second = down(world, "https://two.example/")
    world.maintenance.targets.add(first)
    world.targets.pause("acme", second)
    text = page(served)
    assert "maintenance" in text
    assert "paused" in text
    assert "down" not in text.replace("is down", "")
    assert "No service is checked at present" in text
    world.targets.remove("acme", second)
    assert "All services are in maintenance" in page(served)
    world.targets.remove("acme", first)
    assert "Nothing to show yet" in page(served)


@pytest.mark.parametrize("slug", ["", "-a", "a-", "A", "a b", "a/b", "ä", "a" * 64])
def test_a_slug_is_a_label(served: Served, slug: str) -> None:
    assert published(served, slug=slug).status == 422


@pytest.mark.parametrize("slug", ["a" * 8000, "A", "%00", "..%2F.."])
def test_a_page_is_looked_for_only_where_one_can_be(served: Served, slug: str) -> None:
    served.services._pages = None
    assert served.send("GET", f"/status/{slug}").status == 404


def test_a_slug_can_be_moved_and_given_up(served: Served) -> None:
    published(served)
    other = served.send("PUT", "/v1/status-page", {"slug": "silk", "title": "x"}, tenant="other")
    assert other.status == 409
    assert published(served, slug="silk2").body["path"] == "/status/silk2"
    assert served.send("GET", "/status/silk").status == 404
    assert served.send("DELETE", "/v1/status-page").status == 204
    assert served.send("GET", "/status/silk2").status == 404


def texts(answer: Answer) -> list[str]:
    assert answer.status == 200
    assert answer.headers["Content-Type"] == "image/svg+xml"
    root = ET.fromstring(answer.text)
    return [each.text or "" for each in root.iter("{http://www.w3.org/2000/svg}text")]


def test_badges_are_drawn_for_public_targets_alone(served: Served, world: CheckWorld) -> None:
    published(served)
    world.sites.seconds["fine.example"] = 0.25
    shown = world.target("https://fine.example/", public=True, name=EVIL)
    hidden = world.target("https://fine.example/hidden")
    for _ in range(2):
        world.check(shown)
    path = f"/status/silk/badges/{shown}.svg"
    assert texts(served.send("GET", path)) == [EVIL, "up"]
    assert texts(served.send("GET", path, kind="uptime")) == [EVIL, "100 %"]
    [_, latency] = texts(served.send("GET", path, kind="latency"))
    assert abs(int(latency.removesuffix(" ms")) - 250) <= 13
    assert served.send("GET", path, kind="colour").status == 422
    assert served.send("GET", f"/status/silk/badges/{hidden}.svg").status == 404
    assert served.send("GET", f"/status/other/badges/{shown}.svg").status == 404


def test_a_page_with_groups_has_badges_of_their_targets_alone(
    served: Served, world: CheckWorld
) -> None:
    shown, elsewhere = (
        world.target(f"https://fine.example/{path}", public=True) for path in ("shop", "intern")
    )
    groups = [{"name": "Shop", "target_ids": [shown]}]
    body = {"slug": "silk", "title": "Silk Shop", "groups": groups}
    assert served.send("PUT", "/v1/status-page", body).status == 200
    for target_id, status in ((shown, 200), (elsewhere, 404)):
        assert served.send("GET", f"/status/silk/badges/{target_id}.svg").status == status


def test_a_badge_is_xml_whatever_the_target_s_name(served: Served, world: CheckWorld) -> None:
    published(served)
    shown = world.target("https://fine.example/", public=True, name="a\0\x1bb")
    badge = served.send("GET", f"/status/silk/badges/{shown}.svg")
    assert texts(badge)[0] == "a\ufffd\ufffdb"


def test_a_badge_of_a_target_without_checks_says_so(served: Served, world: CheckWorld) -> None:
    published(served)
    shown = world.target("https://fine.example/", public=True)
    path = f"/status/silk/badges/{shown}.svg"
    for kind, words in (
        ("status", "not checked yet"),
        ("uptime", "no data"),
        ("latency", "no data"),
    ):
        assert texts(served.send("GET", path, kind=kind)) == ["fine.example", words]


def test_metrics_are_of_all_targets_of_the_caller(served: Served, world: CheckWorld) -> None:
    world.target("https://foreign.example/", tenant="other")
    up = world.target("https://fine.example/", name='a "b"\\\n')
    bad = down(world, "https://broken.example/")
    world.sites.seconds["fine.example"] = 0.5
    world.check(up)
    answer = served.send("GET", "/metrics")
    assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    lines = answer.text.splitlines()
    values = {
        (match[1], match[2]): float(match[3])
        for line in lines
        if (match := re.fullmatch(r'spinneret_target_(\w+)\{id="(\w+)",.*\} (\S+)', line))
    }
    assert values["up", up] == 1
    assert values["up", bad] == 0
    assert values["response_seconds", up] == 0.5
    assert ("response_seconds", bad) not in values
    assert values["failures_total", bad] == values["checks_total", bad] == 3
    assert 'name="a \\"b\\"\\\\\\n"' in answer.text
    assert "foreign" not in answer.text
    typed = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    assert len(typed) == len(set(typed)) == 12


def metrics(answer: Answer) -> dict[str, float]:
    """Return the metrics of the tenant as a whole."""
    found = re.findall(r"^(spinneret_targets\w*) (\S+)$", answer.text, re.MULTILINE)
    return {name: float(number) for name, number in found}


def test_metrics_are_of_all_targets_that_an_answer_can_hold(
    served: Served, world: CheckWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    many(world, 1200)
    answer = served.send("GET", "/metrics")
    assert answer.text.count("\nspinneret_target_up{") == 1200
    assert metrics(answer) == {"spinneret_targets": 1200, "spinneret_targets_left_out": 0}
    monkeypatch.setattr(limits, "METRICS_BYTES", 100_000)
    world.clock.advance(limits.METRICS_KEPT_SECONDS)
    answer = served.send("GET", "/metrics")
    shown = answer.text.count("\nspinneret_target_up{")
    assert metrics(answer) == {
        "spinneret_targets": 1200,
        "spinneret_targets_left_out": 1200 - shown,
    }
    assert 50_000 < len(answer.text) < 101_000


def test_metrics_are_read_once_in_15_seconds(served: Served, world: CheckWorld) -> None:
    many(world, 3)

    def count() -> float:
        return metrics(served.send("GET", "/metrics"))["spinneret_targets"]

    assert count() == 3
    world.target("https://later.example/")
    world.clock.advance(limits.METRICS_KEPT_SECONDS - 1)
    assert (count(), world.watch.full_reads) == (3, 1)
    world.clock.advance(1)
    assert (count(), world.watch.full_reads) == (4, 2)


def test_metrics_say_how_long_a_check_is_due(served: Served, world: CheckWorld) -> None:
    target_id = world.target("https://fine.example/")
    paused = world.target("https://paused.example/")
    world.targets.pause("acme", paused)
    due_at = world.due(target_id).due_at

    def overdue() -> list[tuple[str, str]]:
        text = served.send("GET", "/metrics").text
        return re.findall(r'spinneret_target_overdue_seconds\{id="(\w+)".*\} (\S+)', text)

    assert overdue() == [(target_id, "0")]
    world.clock.now = due_at + timedelta(seconds=90)
    assert overdue() == [(target_id, "90")]


@pytest.mark.parametrize(
    ("up", "down_ms", "words"),
    [
        (1000, 0, "100 %"),
        (10**9, 1, "99.99 %"),
        (999, 1, "99.90 %"),
        (0, 1, "0.00 %"),
        (0, 0, "no data"),
    ],
)
def test_uptime_is_never_rounded_up_to_100(up: int, down_ms: int, words: str) -> None:
    tally = Rollup(up_ms=up, down_ms=down_ms)
    assert rules.percent(rules.uptime_of(tally)) == words


def test_bars_are_days(served: Served, world: CheckWorld) -> None:
    published(served)
    target_id = world.target("https://fine.example/", public=True, interval_seconds=3600)
    for _ in range(50):
        world.check(target_id)
    text = page(served)
    assert text.count("<rect") == 90
    assert text.count('<rect class="good"') == 3
    today = world.clock()
    assert f"{today:%Y-%m-%d}: 100 %" in text
    assert f"{today - timedelta(days=5):%Y-%m-%d}: no data" in text


# ---------------------------------------------------------------- Groups and several pages


def further(served: Served, slug: str, tenant: str = "acme") -> Answer:
    body = {"slug": slug, "title": slug}
    return served.send("POST", "/v1/status-pages", body, tenant=tenant)


# covers M-07
def test_groups_select_and_order_the_public_targets_of_a_page(
    served: Served, world: CheckWorld
) -> None:
    names = ("one", "two", "other", "hidden")
    ids = {
        name: world.target(f"https://{name}.example/", public=name != "hidden") for name in names
    }
    groups = [
        {"name": f"Shop {EVIL}", "target_ids": [ids["two"], ids["one"], ids["hidden"]]},
        {"name": "Nothing public", "target_ids": [ids["hidden"]]},
    ]
    body = {"slug": "partners", "title": "Partners", "groups": groups}
    answer = served.send("POST", "/v1/status-pages", body)
    assert (answer.status, answer.body["groups"], answer.body["is_main"]) == (201, groups, False)
    text = page(served, "partners")
    assert re.findall(r'class="name">([^<]*)<', text) == ["two.example", "one.example"]
    assert re.findall(r"<h2>(.*?)</h2>", text) == ["Shop &lt;script&gt;alert(1)&lt;/script&gt;"]


# covers M-07
def test_groups_name_targets_that_exist_or_were_named_before(
    served: Served, world: CheckWorld
) -> None:
    one, foreign = (
        world.target("https://one.example/"),
        world.target("https://two.example/", "other"),
    )
    groups = [{"name": "Shop", "target_ids": [one]}, {"name": "Blog", "target_ids": [one]}]
    wrong = [groups[0], {"name": "Blog", "target_ids": [one, "t_mistyped", foreign]}]
    for method, path, slug in (
        ("PUT", "/v1/status-page", "silk"),
        ("POST", "/v1/status-pages", "more"),
    ):
        page_of = {"slug": slug, "title": "New"}
        refused = served.send(method, path, page_of | {"groups": wrong})
        assert (refused.status, refused.body["code"]) == (422, "VALIDATION_ERROR")
        paths = [each["path"] for each in refused.body["details"]["fields"]]
        assert paths == ["groups.1.target_ids.1", "groups.1.target_ids.2"]
        assert served.send(method, path, page_of | {"groups": groups}).status < 300
    world.targets.remove("acme", one)
    for path in ("/v1/status-pages/silk", "/v1/status-pages/more"):
        assert served.send("PUT", path, {"title": "New", "groups": groups}).status == 200
        assert served.send("PUT", path, {"title": "New", "groups": wrong}).status == 422


# covers M-07
def test_a_tenant_has_several_pages(served: Served) -> None:
    published(served)
    for slug in ("b", "a"):
        assert further(served, slug).status == 201
    assert served.send("PUT", "/v1/status-pages/silk", {"title": "New"}).body["is_main"]
    listed = served.send("GET", "/v1/status-pages").body["items"]
    assert [(each["slug"], each["title"]) for each in listed] == [
        ("silk", "New"),
        ("a", "a"),
        ("b", "b"),
    ]
    for taken in (
        published(served, slug="a"),
        further(served, "a"),
        further(served, "silk"),
        further(served, "a", tenant="other"),
    ):
        assert (taken.status, taken.body["error"]) == (409, "the slug is taken")
    foreign = served.send("PUT", "/v1/status-pages/a", {"title": "x"}, tenant="other")
    assert foreign.status == 404
    assert served.send("GET", "/v1/status-pages/a", tenant="other").status == 404
    assert served.send("DELETE", "/v1/status-pages/a", tenant="other").status == 404
    assert served.send("DELETE", "/v1/status-pages/a").status == 204
    assert served.send("GET", "/status/a").status == 404
    assert page(served, "b")


def test_pages_and_groups_have_bounds(served: Served) -> None:
    for number in range(limits.STATUS_PAGES_MAX):
        assert further(served, f"p{number}").status == 201
    assert further(served, "one-more").status == published(served).status == 409
    many_ids = [f"t_{number}" for number in range(26)]
    groups = [{"name": name, "target_ids": many_ids} for name in "ab"]
    for body in ({"title": "x", "groups": groups}, {"title": "x", "groups": [{"name": "a"}]}):
        assert served.send("PUT", "/v1/status-pages/p1", body).status == 422
    assert further(served, "A_b").status == 422


def test_pages_that_are_created_at_once_are_ten_at_most(served: Served) -> None:
    for number in range(limits.STATUS_PAGES_MAX - 1):
        further(served, f"p{number}")
    pages = served.services.pages
    write = pages.put

    def others_first(page: StatusPage, former: StatusPage | None) -> bool:
        pages.put = write
        assert further(served, "other").status == 201
        return bool(write(page, former))

    pages.put = others_first
    assert further(served, "mine").status == 409
    assert len(pages.all("acme")) == limits.STATUS_PAGES_MAX
    assert served.send("GET", "/status/mine").status == 404


# ---------------------------------------------------------------- Notices and their feed

PLANNED = {
    "kind": "maintenance",
    "title": "Upgrade",
    "text": "New disks.",
    "starts_at": "2026-01-05T22:00:00+01:00",
    "ends_at": "2026-01-05T23:00:00+01:00",
}


def posted(posting: Served, **given: object) -> str:
    body = {"kind": "incident", "title": "Payments", "text": "Some fail."} | given
    answer = posting.send("POST", "/v1/status-notices", body)
    assert answer.status == 201, answer.body
    return str(answer.body["id"])


def updated(posting: Served, notice_id: str, status: str, text: str = "Works.") -> Answer:
    path = f"/v1/status-notices/{notice_id}/updates"
    return posting.send("POST", path, {"status": status, "text": text})


# covers M-07
def test_a_notice_is_on_the_page_with_its_updates_for_90_days_after_its_end(
    served: Served, posting: Served, world: CheckWorld
) -> None:
    published(served)
    notice_id = posted(posting, title=EVIL, text=f"{EVIL}&")
    posted(posting, **PLANNED)
    world.clock.advance(60)
    text = page(served)
    assert "<script" not in text
    assert "Last 90 days" not in text
    assert "2026-01-05 21:00 to 2026-01-05 22:00 UTC" in text
    assert updated(posting, notice_id, "resolved").body["status"] == "resolved"
    shown, ended = page(served).split("Last 90 days")
    assert "Upgrade" in shown
    assert re.findall(r"<strong>(.*?)</strong>", ended) == ["Resolved", "Investigating"]
    world.clock.advance(timedelta(days=91).total_seconds())
    assert "Last 90 days" not in page(served)


def test_a_notice_is_on_the_pages_that_it_names(served: Served, posting: Served) -> None:
    published(served)
    further(served, "partners")
    posted(posting, title="For all")
    posted(posting, title="For partners", slugs=["partners"])
    shown = {each: re.findall(r'class="name">(.*?)<', page(served, each)) for each in SLUGS}
    assert shown == {"silk": ["For all"], "partners": ["For partners", "For all"]}
    other = served.send("PUT", "/v1/status-page", {"slug": "o", "title": "O"}, tenant="other")
    assert other.status == 200
    assert "For all" not in page(served, "o")


def test_a_notice_for_a_page_that_is_not_the_tenants_is_refused(
    served: Served, posting: Served
) -> None:
    served.send("PUT", "/v1/status-page", {"slug": "foreign", "title": "F"}, tenant="other")
    body = {"kind": "incident", "title": "Payments", "text": "Some fail.", "slugs": ["foreign"]}
    hints = ["publish a status page first", "pages are silk"]
    for hint in hints:
        refused = posting.send("POST", "/v1/status-notices", body)
        assert refused.status == 422
        assert refused.body["details"]["fields"] == [
            {"path": "slugs.0", "message": "no such status page", "hint": hint}
        ]
        published(served)
    assert posting.send("GET", "/v1/status-notices").body["items"] == []


# covers M-07
def test_many_notices_of_other_pages_hide_none(served: Served, posting: Served) -> None:
    published(served)
    further(served, "partners")
    posted(posting, title="Ours", slugs=["silk"])
    for _ in range(notice_limits.NOTICES_SHOWN):
        posted(posting, slugs=["partners"])
    assert re.findall(r'class="name">(.*?)<', page(served)) == ["Ours"]
    for _ in range(notice_limits.NOTICES_SHOWN):
        posted(posting, title="Newer")
    assert re.findall(r'class="name">(.*?)<', page(served)) == ["Newer"] * 50


def test_an_active_notice_is_shown_whatever_ended_after_it(served: Served, posting: Served) -> None:
    published(served)
    posted(posting, title="Still there")
    for _ in range(notice_limits.NOTICES_SHOWN):
        posted(posting, status="resolved")
    assert "Still there" in page(served)


SLUGS = ("silk", "partners")


@pytest.mark.parametrize(
    "wrong",
    [
        {"status": "completed"},
        {"starts_at": PLANNED["starts_at"]},
        {"kind": "maintenance"},
        PLANNED | {"ends_at": PLANNED["starts_at"]},
        PLANNED | {"starts_at": "tomorrow"},
        {"title": " "},
        {"slugs": ["No slug"]},
    ],
)
def test_what_is_no_notice_is_refused(posting: Served, wrong: dict[str, object]) -> None:
    body = {"kind": "incident", "title": "Payments", "text": "Some fail."} | wrong
    assert posting.send("POST", "/v1/status-notices", body).status == 422


def test_a_notice_is_updated_listed_and_removed_by_its_tenant(posting: Served) -> None:
    first, second = posted(posting), posted(posting)
    assert updated(posting, first, "scheduled").status == 422
    for _ in range(notice_limits.NOTICE_UPDATES_MAX - 1):
        assert updated(posting, first, "monitoring").status == 201
    assert updated(posting, first, "resolved").status == 409
    listed = posting.send("GET", "/v1/status-notices", limit="1").body
    assert [each["id"] for each in listed["items"]] == [second]
    rest = posting.send("GET", "/v1/status-notices", cursor=listed["next_cursor"]).body
    assert [each["id"] for each in rest["items"]] == [first]
    path = f"/v1/status-notices/{first}"
    assert posting.send("GET", path, tenant="other").status == 404
    assert posting.send("DELETE", path, tenant="other").status == 404
    assert posting.send("DELETE", path).status == 204
    assert posting.send("GET", path).status == 404


# covers M-07
def test_the_feed_is_valid_xml_with_an_entry_for_each_update(
    served: Served, posting: Served, world: CheckWorld
) -> None:
    published(served, title=f"Silk {EVIL} & Sons")
    further(served, "elsewhere")
    notice_id = posted(posting, title=f"{EVIL}\x00\x0b]]>", text="ä\U0001f600 & <b>")
    world.clock.advance(60)
    updated(posting, notice_id, "resolved")
    posted(posting, title="For others", slugs=["elsewhere"])
    answer = served.send("GET", "/status/silk/feed.xml")
    assert answer.headers["Content-Type"] == "application/atom+xml; charset=utf-8"
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    atom = "{http://www.w3.org/2005/Atom}"
    feed = ET.fromstring(answer.text)
    assert feed.findtext(f"{atom}title") == f"Silk {EVIL} & Sons"
    found = feed.findall(f"{atom}entry")
    assert [each.findtext(f"{atom}title") for each in found] == [
        f"{EVIL}\ufffd\ufffd]]>: resolved",
        f"{EVIL}\ufffd\ufffd]]>: investigating",
    ]
    assert found[1].findtext(f"{atom}content") == "ä\U0001f600 & <b>"
    ids = [each.text or "" for each in feed.iter(f"{atom}id")]
    assert len(set(ids)) == 3
    assert all(each.startswith("urn:uuid:") for each in ids)
    assert feed.findtext(f"{atom}updated") == found[0].findtext(f"{atom}updated")
    assert served.send("GET", "/status/other/feed.xml").status == 404
