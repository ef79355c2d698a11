"""The API routes of audits and of their schedules, on fakes."""

import json
from dataclasses import dataclass, replace
from typing import Any

import pytest

from audits.audits_routes import router
from audits.schedules_routes import router as schedules_router
from spinneret.audits.preview import Previews
from spinneret.audits.recipes import RECIPES
from spinneret.audits.request_headers import HeaderIntake
from spinneret.audits.schedules.dynamo import SCHEDULES
from spinneret.audits.schedules.service import ScheduleService, ScheduleTicker
from spinneret.audits.service import AuditService
from spinneret.jobs.control import JobControl
from spinneret.jobs.live.waiting import JobWaits
from spinneret.jobs.models import JobRef
from spinneret.kernel.errors import ContentRefused, DomainError
from spinneret.web.browser.models import LabFigures
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.fetching.models import FetchedPage
from streams.streams_routes import router as streams_router
from tests.fakes.auditing import AuditWorld
from tests.fakes.audits import FakeScheduleStore
from tests.fakes.browser import FakeBrowser, Rendering
from tests.fakes.fetching import fetched_page
from tests.unit.audits.site import GOOD_ROBOTS, HOST, Page
from tests.unit.audits.test_running import good_site
from tests.unit.runtime.api import Answer
from tests.unit.served import Served


@dataclass
class Services:
    """Services that the routes use."""

    audits: AuditService
    jobs: JobControl
    schedules: ScheduleService
    world: AuditWorld

    @property
    def previews(self) -> Previews:
        """Return previews of the site in its present state."""
        return self.world.previews()


class AuditApi:
    """The audit API of an AuditWorld."""

    def __init__(self) -> None:
        self.world = AuditWorld()
        good_site(self.world)
        self.schedule_store = FakeScheduleStore()
        ids = iter(range(999))
        self.services = Services(
            audits=self.world.service(),
            jobs=self.world.control,
            schedules=ScheduleService(
                store=self.schedule_store,
                policy=AddressPolicy(),
                has_browser=False,
                intake=HeaderIntake(seal=self.world.seal, user_agent="Spinneret/0.1"),
                clock=self.world.clock,
                new_id=lambda prefix: f"{prefix}_{next(ids):03}",
            ),
            world=self.world,
        )

    def send(self, method: str, path: str, body: Any = None, **given: Any) -> Answer:
        served = schedules_router if path.startswith("/audits/schedules") else router
        return Served(served, self.services).send(method, path, body, **given)

    def audit(self, url: str = f"{HOST}/", **request: Any) -> str:
        """Submit an audit, run it to its end, and return its id."""
        answer = self.send("POST", "/audits", {"url": url, **request})
        assert answer.status == 202, answer
        audit_id: str = answer.body["audit_id"]
        self.world.settle(JobRef(tenant="acme", job_id=audit_id))
        return audit_id

    def tick(self) -> Any:
        """Run all due schedules, as the rule of each minute does."""
        return ScheduleTicker(
            store=self.schedule_store, audits=self.services.audits, clock=self.world.clock
        ).tick()


@pytest.fixture
def api() -> AuditApi:
    return AuditApi()


# ---------------------------------------------------------------- Audits


STAGING = {"headers": {"Authorization": "Basic c2VjcmV0"}, "cookie": "stage=s3cret"}


#
def test_a_staging_site_gets_headers_that_nobody_is_shown(api: AuditApi) -> None:
    api.world.pages["https://elsewhere.example/"] = fetched_page("https://elsewhere.example/", b"")
    audit_id = api.audit(**STAGING)
    sent = api.world.sent
    for path in ("/", "/oak", "/robots.txt"):
        assert sent[f"{HOST}{path}"]["Authorization"] == "Basic c2VjcmV0"
        assert sent[f"{HOST}{path}"]["Cookie"] == "stage=s3cret"
    others = {url: each for url, each in sent.items() if not url.startswith(f"{HOST}/")}
    assert others
    assert not any({"Authorization", "Cookie"} & set(each) for each in others.values())
    view = api.send("GET", f"/audits/{audit_id}")
    assert view.body["headers"] == ["Authorization", "Cookie"]
    job = api.world.store.get(JobRef(tenant="acme", job_id=audit_id))
    stored = [*api.world.bodies.objects.values(), str(job).encode(), str(view.body).encode()]
    assert not any(b"c2VjcmV0" in each or b"s3cret" in each for each in stored)


#
def test_a_rendered_audit_judges_pages_after_their_scripts_and_takes_lab_figures(
    api: AuditApi,
) -> None:
    world, options = api.world, {"render": True}
    refused = api.send("POST", "/audits", {"url": f"{HOST}/", "options": options})
    assert (refused.status, refused.body["details"]["dependency"]) == (503, "browser")
    painted = LabFigures(first_contentful_paint_ms=80, largest_contentful_paint_ms=120)
    doms: dict[str, Rendering | DomainError] = {
        url: Rendering(
            dom=page.body.decode(), headers=page.headers, figures=replace(painted, layout_shift=0.1)
        )
        for url, page in world.pages.items()
        if isinstance(page, FetchedPage) and page.media_type == "text/html"
    }
    dom = doms[f"{HOST}/oak"]
    assert isinstance(dom, Rendering)
    doms[f"{HOST}/oak"] = replace(dom, dom=dom.dom.replace("<title>", "<x>"))
    doms[f"{HOST}/cedar"] = ContentRefused("answered application/pdf")
    world.browser = FakeBrowser(doms)
    api.services.audits = world.service()
    view = api.send("GET", f"/audits/{api.audit(options=options)}").body
    assert (view["status"], view["options"]["render"]) == ("completed", True)
    assert view["result"]["pages"]["other"] == 1
    lab = view["result"]["lab"]
    assert (lab["first_contentful_paint_ms"], lab["largest_contentful_paint_ms"]) == (80, 120)
    assert (lab["layout_shift"], lab["pages"]) == (0.1, view["result"]["pages"]["html"])
    issues = api.send("GET", f"/audits/{view['audit_id']}/issues").body["items"]
    assert f"{HOST}/oak" in {each["url"] for each in issues if each["check"] == "title.missing"}
    body = world.report(JobRef(tenant="acme", job_id=view["audit_id"]))
    [oak] = [each for each in json.loads(body)["pages"] if each["url"] == f"{HOST}/oak"]
    assert oak["lab"]["transferred_bytes"] > 0
    assert {each.total_seconds for each in world.browser.requests} == {30.0}
    both = {"url": f"{HOST}/", "options": options, **STAGING}
    assert api.send("POST", "/audits", both).status == 422


#
def test_a_list_of_pages_is_audited_without_following_links(api: AuditApi) -> None:
    urls = [f"{HOST}/oak", f"{HOST}/cedar", f"{HOST}/oak"]
    answer = api.send("POST", "/audits", {"options": {"urls": urls}})
    ref = JobRef(tenant="acme", job_id=answer.body["audit_id"])
    api.world.settle(ref)
    view = api.send("GET", f"/audits/{ref.job_id}").body
    assert (view["status"], view["url"], view["options"]["urls"]) == (
        "completed",
        *[urls[0]],
        urls[:2],
    )
    pages = json.loads(api.world.report(ref))["pages"]
    read = {each["url"] for each in pages if each["kind"] == "html"}
    assert read == {f"{HOST}/oak", f"{HOST}/cedar"}


#
@pytest.mark.parametrize(
    ("request_", "path"),
    [
        ({"url": f"{HOST}/", "options": {"urls": [f"{HOST}/oak"]}}, "url"),
        ({}, "url"),
        ({"options": {"urls": [f"{HOST}/oak", "https://elsewhere.example/"]}}, "options.urls.1"),
        ({"options": {"urls": [f"{HOST}/oak"], "max_pages": 5}}, "options.max_pages"),
        ({"options": {"urls": [f"{HOST}/oak"]}, "recipe": "hello"}, "options.urls"),
        ({"url": f"{HOST}/", "cookie": "a=1; b=2"}, "cookie"),
        ({"url": f"{HOST}/", "cookie": "a=1", "headers": {"cookie": "b=2"}}, "cookie"),
        ({"url": f"{HOST}/", "headers": {"Host": "x"}}, "headers.Host"),
    ],
)
def test_what_an_audit_cannot_follow_is_refused_by_its_field(
    request_: dict[str, Any], path: str, api: AuditApi
) -> None:
    refused = api.send("POST", "/audits", request_)
    assert refused.status == 422
    assert [each["path"] for each in refused.body["details"]["fields"]] == [path]
    if "recipe" not in request_:
        schedule = {**request_, "schedule_cron": "@daily"}
        assert api.send("POST", "/audits/schedules", schedule).status == 422


@pytest.mark.parametrize(("page", "status"), [("no url", 400), ("http://10.0.0.1/", 403)])
def test_a_page_of_a_list_that_cannot_be_requested_is_named(
    page: str, status: int, api: AuditApi
) -> None:
    request = {"options": {"urls": [f"{HOST}/oak", page]}}
    for path, more in (("/audits", {}), ("/audits/schedules", {"schedule_cron": "@daily"})):
        refused = api.send("POST", path, {**request, **more})
        assert refused.status == status
        assert [each["path"] for each in refused.body["details"]["fields"]] == ["options.urls.1"]


#
def test_a_schedule_keeps_threshold_and_headers_for_its_audits(api: AuditApi) -> None:
    wanted = {"url": f"{HOST}/", "schedule_cron": "@hourly", "fail_under": 90, **STAGING}
    made = api.send("POST", "/audits/schedules", wanted).body
    assert (made["fail_under"], made["headers"]) == (90, ["Authorization", "Cookie"])
    path = f"/audits/schedules/{made['schedule_id']}"
    plain = {name: each for name, each in wanted.items() if name not in STAGING}
    assert api.send("PUT", path, plain).body["headers"] == ["Authorization", "Cookie"]
    elsewhere = {**plain, "url": "https://elsewhere.example/"}
    refused = api.send("PUT", path, elsewhere)
    assert (refused.status, refused.body["details"]["fields"][0]["path"]) == (422, "headers")
    row = api.schedule_store.get("acme", made["schedule_id"])
    assert row is not None
    assert SCHEDULES.decode(SCHEDULES.encode(row)) == row
    assert "s3cret" not in repr(SCHEDULES.encode(row))
    api.world.clock.advance(3600)
    assert api.tick().submitted == 1
    audit_id = api.send("GET", path).body["last_audit_id"]
    api.world.settle(JobRef(tenant="acme", job_id=audit_id))
    view = api.send("GET", f"/audits/{audit_id}").body
    assert (view["passed"], view["fail_under"]) == (True, 90)
    assert api.world.sent[f"{HOST}/"]["Cookie"] == "stage=s3cret"
    assert api.send("PUT", path, {**elsewhere, "headers": {}}).body["headers"] == []


#
def test_an_audit_is_accepted_followed_and_read(api: AuditApi) -> None:
    answer = api.send("POST", "/audits", {"url": f"{HOST}/"})
    assert (answer.status, answer.body["status"], answer.body["recipe_version"]) == (
        202,
        "pending",
        1,
    )
    path = f"/audits/{answer.body['audit_id']}"
    assert api.send("GET", f"{path}/report").status == 409
    api.world.settle(JobRef(tenant="acme", job_id=answer.body["audit_id"]))
    view = api.send("GET", path).body
    assert (view["status"], view["score"], view["grade"]) == ("completed", 100, "A")
    assert view["options"] == {"max_pages": 100, "max_external_links": 500, "max_images": 100}
    timeline = api.send("GET", f"{path}/timeline", limit="100").body["items"]
    assert timeline[0]["message"] == "pending"
    assert timeline[-1]["message"] == "completed"
    assert [each["progress"] for each in timeline] == sorted(each["progress"] for each in timeline)
    waits = JobWaits(store=api.world.store, clock=api.world.clock, sleep=api.world.clock.advance)
    stream = Served(streams_router, waits).send("GET", f"{path}/stream")
    assert (stream.status, "event: status_changed" in stream.text) == (200, True)


def test_a_replay_is_the_same_audit_and_another_body_is_refused(api: AuditApi) -> None:
    body, headers = {"url": f"{HOST}/"}, {"Idempotency-Key": "k"}
    first, again = (api.send("POST", "/audits", body, headers=headers) for _ in range(2))
    assert first.body == again.body
    assert again.headers["Idempotent-Replayed"] == "true"
    other = api.send("POST", "/audits", {**body, "recipe": "hello"}, headers=headers)
    assert (other.status, other.body["code"]) == (422, "IDEMPOTENCY_MISMATCH")
    assert api.send("POST", "/audits", body).body["audit_id"] != first.body["audit_id"]


#
def test_another_version_of_the_recipe_is_another_audit(
    api: AuditApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    body, headers = {"url": f"{HOST}/"}, {"Idempotency-Key": "k"}
    first = api.send("POST", "/audits", body, headers=headers).body
    newer = replace(RECIPES["seo"], version=first["recipe_version"] + 1)
    monkeypatch.setitem(RECIPES, "seo", newer)  # as in the next deployment
    again = api.send("POST", "/audits", body, headers=headers).body
    assert again["recipe_version"] == newer.version
    assert again["audit_id"] != first["audit_id"]


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"url": "ftp://a.example/"}, 400, "URL_INVALID"),
        ({"url": "http://127.0.0.1/"}, 403, "URL_BLOCKED"),
        ({"url": f"{HOST}/", "recipe": "other"}, 422, "VALIDATION_ERROR"),
        ({"url": f"{HOST}/", "mode": "fast"}, 422, "VALIDATION_ERROR"),
        ({"url": f"{HOST}/", "options": {"max_pages": 0}}, 422, "VALIDATION_ERROR"),
        ({"url": f"{HOST}/", "options": {"max_pages": 1001}}, 422, "VALIDATION_ERROR"),
        ({"url": f"{HOST}/", "options": {"pages": 1}}, 422, "VALIDATION_ERROR"),
        (
            {"url": f"{HOST}/", "recipe": "hello", "options": {"max_pages": 2}},
            422,
            "VALIDATION_ERROR",
        ),
        ({}, 422, "VALIDATION_ERROR"),
    ],
)
def test_a_bad_request_leaves_nothing(
    api: AuditApi, body: dict[str, Any], status: int, code: str
) -> None:
    answer = api.send("POST", "/audits", body)
    assert (answer.status, answer.body["code"]) == (status, code)
    assert api.send("GET", "/audits").body["items"] == []


def test_lists_filter_by_status_and_recipe(api: AuditApi) -> None:
    done = api.audit(recipe="hello")
    waiting = api.send("POST", "/audits", {"url": f"{HOST}/"}).body["audit_id"]

    def shown(**query: str) -> list[str]:
        return [each["audit_id"] for each in api.send("GET", "/audits", **query).body["items"]]

    assert shown() == [waiting, done]
    assert shown(status="completed") == [done]
    assert shown(recipe="seo") == [waiting]
    assert api.send("GET", "/audits", status="odd").status == 422


def test_a_foreign_audit_is_unknown(api: AuditApi) -> None:
    path = f"/audits/{api.audit(recipe='hello')}"
    for method, tail in [
        *(("GET", t) for t in ("", "/timeline", "/report", "/issues", "/artifacts")),
        ("GET", "/comparison"),
        ("POST", "/cancel"),
        ("POST", "/retry"),
    ]:
        answer = api.send(method, path + tail, tenant="other")
        assert (answer.status, answer.body["code"]) == (404, "NOT_FOUND"), tail


def test_a_job_of_another_kind_is_no_audit(api: AuditApi) -> None:
    assert api.send("POST", "/audits/job_000777/cancel").status == 404


#
def test_an_audit_is_cancelled_and_a_failed_one_begun_again(api: AuditApi) -> None:
    audit_id = api.send("POST", "/audits", {"url": f"{HOST}/"}).body["audit_id"]
    path = f"/audits/{audit_id}"
    assert api.send("POST", f"{path}/retry").status == 409
    assert api.send("POST", f"{path}/cancel").body["status"] == "cancelled"
    assert api.send("POST", f"{path}/cancel").status == 409
    api.world.pages[f"{HOST}/"] = fetched_page(f"{HOST}/", b"", status_code=404)
    failed = api.audit()
    assert api.send("GET", f"/audits/{failed}").body["error_summary"] == (
        "shop.example answered 404"
    )
    assert api.send("POST", f"/audits/{failed}/retry").body["status"] == "pending"


@pytest.mark.parametrize("name", ["json", "csv", "html", "md", "junit", "sarif"])
def test_a_report_is_at_a_presigned_url(api: AuditApi, name: str) -> None:
    audit_id = api.audit(recipe="hello")
    view = api.send("GET", f"/audits/{audit_id}/report", format=name).body
    key = view["url"].removeprefix("https://bucket.example/").partition("?")[0]
    assert api.world.bodies.objects[key]
    assert api.world.bodies.types[key] == view["media_type"]
    assert (view["format"], view["expires_in"]) == (name, 3600)
    assert api.send("GET", f"/audits/{audit_id}/report", format="pdf").status == 422
    if name == "md":
        assert api.send("GET", f"/audits/{audit_id}/report", format="markdown").body == view


def test_issues_come_by_severity_in_pages_and_filtered(api: AuditApi) -> None:
    api.world.pages[f"{HOST}/oak"] = Page(path="/oak", title=None, h1=None, lang=None).answer()
    path = f"/audits/{api.audit()}/issues"
    every = api.send("GET", path, limit="100").body["items"]
    assert len(every) >= 3
    assert all(each["title"] and each["evidence"] for each in every)
    paged, cursor = [], None
    while True:
        answer = api.send("GET", path, limit="2", **({"cursor": cursor} if cursor else {})).body
        paged += answer["items"]
        cursor = answer["next_cursor"]
        if not answer["has_more"]:
            break
    assert paged == every
    only = api.send("GET", path, check="title.missing").body["items"]
    assert [(each["check"], each["url"]) for each in only] == [("title.missing", f"{HOST}/oak")]
    severity = only[0]["severity"]
    some = api.send("GET", path, severity=severity, limit="100").body["items"]
    assert some == [each for each in every if each["severity"] == severity]
    assert api.send("GET", path, category="odd").status == 422
    assert api.send("GET", path, cursor="b2Rk").status == 422


def test_an_audit_is_compared_with_the_one_before_or_any(api: AuditApi) -> None:
    good = api.audit()
    path = f"/audits/{good}/comparison"
    assert api.send("GET", path).status == 409
    api.world.clock.advance(600)
    api.world.pages[f"{HOST}/oak"] = Page(path="/oak", title=None).answer()
    worse = api.audit()
    view = api.send("GET", f"/audits/{worse}/comparison", limit="100").body
    assert view["compared_with"] == good
    assert view["change"] < 0
    assert ("title.missing", "new") in {(each["check"], each["state"]) for each in view["items"]}
    assert view["new"] == sum(each["state"] == "new" for each in view["items"])
    back = api.send("GET", path, **{"with": worse, "state": "fixed"})
    assert back.status == 200, back.body
    assert back.body["fixed"] == view["new"]
    issues = api.send("GET", f"/audits/{worse}/issues", state="new", limit="100").body["items"]
    assert len(issues) == view["new"]
    assert api.send("GET", path, **{"with": "job_unknown"}).status == 404


def test_an_audit_of_another_host_is_no_comparison(api: AuditApi) -> None:
    good = api.audit()
    api.world.pages["https://other.example/"] = Page(
        path="/", host="https://other.example", links=()
    ).answer()
    other = api.audit("https://other.example/")
    refused = api.send("GET", f"/audits/{good}/comparison", **{"with": other})
    assert (refused.status, refused.body["code"]) == (409, "CONFLICT"), refused.body


def test_artifacts_are_listed_in_pages(api: AuditApi) -> None:
    path = f"/audits/{api.audit()}/artifacts"
    every = api.send("GET", path, limit="100").body["items"]
    pages = [each for each in every if each["type"] == "html_gz"]
    assert len(pages) == 9
    assert all(each["retention_until"] for each in pages)
    assert all(each["retention_until"] is None for each in every if each["type"] != "html_gz")
    first = api.send("GET", path, limit="5").body
    rest = api.send("GET", path, limit="100", cursor=first["next_cursor"]).body
    assert first["items"] + rest["items"] == every


# ---------------------------------------------------------------- Preview


def test_a_preview_counts_the_sitemap_by_three_requests(api: AuditApi) -> None:
    view = api.send("POST", "/audits/preview", {"url": f"{HOST}/"}).body
    assert (view["estimated_pages"], view["estimated_by"]) == (9, "sitemap")
    assert (view["requests"], view["is_lower_bound"], view["is_allowed"]) == (3, False, True)
    assert view["sitemap_url"] == f"{HOST}/sitemap.xml"


def test_a_preview_of_one_sitemap_of_several_is_a_lower_bound(api: AuditApi) -> None:
    robots = f"{HOST}/robots.txt"
    named = f"{GOOD_ROBOTS}\nSitemap: {HOST}/sitemap-shop.xml\n"
    api.world.pages[robots] = fetched_page(robots, named, media_type="text/plain")
    view = api.send("POST", "/audits/preview", {"url": f"{HOST}/"}).body
    assert (view["estimated_pages"], view["is_lower_bound"]) == (9, True)


def test_a_preview_without_a_sitemap_counts_links(api: AuditApi) -> None:
    del api.world.pages[f"{HOST}/sitemap.xml"]
    api.world.pages[f"{HOST}/robots.txt"] = fetched_page(f"{HOST}/robots.txt", "")
    view = api.send("POST", "/audits/preview", {"url": f"{HOST}/"}).body
    assert (view["estimated_by"], view["is_lower_bound"]) == ("links of the start page", True)
    assert view["estimated_pages"] == 7


def test_a_preview_of_a_site_that_fails_says_so(api: AuditApi) -> None:
    answer = api.send("POST", "/audits/preview", {"url": "https://gone.example/"})
    assert (answer.status, answer.body["code"]) == (502, "HTTP_ERROR")


# ---------------------------------------------------------------- Schedules

DAILY = {"url": f"{HOST}/", "recipe": "hello", "schedule_cron": "0 6 * * *"}


def test_a_schedule_is_made_replaced_and_removed(api: AuditApi) -> None:
    made = api.send("POST", "/audits/schedules", DAILY)
    assert (made.status, made.body["next_run_at"]) == (201, "2026-01-03T06:00:00.000000Z")
    path = f"/audits/schedules/{made.body['schedule_id']}"
    changed = api.send("PUT", path, {**DAILY, "timezone": "Europe/Berlin"}).body
    assert changed["next_run_at"] == "2026-01-03T05:00:00.000000Z"
    paused = api.send("PUT", path, {**DAILY, "is_active": False}).body
    assert (paused["is_active"], paused["next_run_at"]) == (False, None)
    assert [each["schedule_id"] for each in api.send("GET", "/audits/schedules").body["items"]]
    assert api.send("GET", path, tenant="other").status == 404
    assert api.send("DELETE", path).status == 204
    assert api.send("GET", path).status == 404


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"schedule_cron": "0 6 30 2 *"}, "schedule_cron"),
        ({"schedule_cron": "often"}, "schedule_cron"),
        ({"timezone": "Mars/Olympus"}, "timezone"),
        ({"options": {"max_pages": 7}}, "options.max_pages"),
    ],
)
def test_a_schedule_that_can_not_be_is_refused_by_its_field(
    api: AuditApi, change: dict[str, Any], field: str
) -> None:
    answer = api.send("POST", "/audits/schedules", {**DAILY, **change})
    assert answer.status == 422
    assert [each["path"] for each in answer.body["details"]["fields"]] == [field]


def test_the_minute_rule_submits_what_is_due_once(api: AuditApi) -> None:
    made = api.send("POST", "/audits/schedules", DAILY).body
    assert api.tick().submitted == 0
    api.world.clock.advance(3 * 24 * 3600)
    assert api.tick().submitted == 1
    assert api.tick().submitted == 0  # one audit makes up for the three missed days
    [audit] = api.send("GET", "/audits").body["items"]
    schedule = api.send("GET", f"/audits/schedules/{made['schedule_id']}").body
    assert (schedule["last_audit_id"], schedule["last_error"]) == (audit["audit_id"], None)
    api.world.clock.advance(24 * 3600)
    assert api.tick().skipped == 1  # the previous day's audit hasn't started yet
    api.world.settle(JobRef(tenant="acme", job_id=audit["audit_id"]))
    api.world.clock.advance(24 * 3600)
    assert api.tick().submitted == 1


def test_a_pass_that_dies_before_the_schedule_moves_on_submits_no_second_audit(
    api: AuditApi,
) -> None:
    made = api.send("POST", "/audits/schedules", DAILY).body
    api.world.clock.advance(24 * 3600)
    stored = dict(api.schedule_store.rows)
    api.tick()
    api.schedule_store.rows = stored
    api.send("PUT", f"/audits/schedules/{made['schedule_id']}", {**DAILY, "fail_under": 90})
    assert api.tick().submitted == 1
    assert len(api.send("GET", "/audits").body["items"]) == 1


def test_a_change_of_anything_but_its_times_leaves_a_due_schedule_due(api: AuditApi) -> None:
    made = api.send("POST", "/audits/schedules", DAILY).body
    path = f"/audits/schedules/{made['schedule_id']}"
    api.world.clock.advance(24 * 3600)
    assert api.send("PUT", path, {**DAILY, "fail_under": 90}).status == 200
    assert api.tick().submitted == 1
    api.world.clock.advance(24 * 3600)
    api.send("PUT", path, {**DAILY, "timezone": "Europe/Berlin"})
    assert (api.tick().submitted, api.tick().skipped) == (0, 0)


def test_a_schedule_that_cannot_be_read_leaves_the_others_their_pass(api: AuditApi) -> None:
    ids = [api.send("POST", "/audits/schedules", DAILY).body["schedule_id"] for _ in range(2)]
    broken = api.schedule_store.get("acme", ids[0])
    assert broken is not None
    options = {"an option of another release": 1}
    api.schedule_store.replace(broken, replace(broken, options=options))
    api.world.clock.advance(24 * 3600)
    done = api.tick()
    assert (done.submitted, done.left) == (1, 1)


def test_a_schedule_whose_site_is_refused_says_why_and_moves_on(api: AuditApi) -> None:
    made = api.send("POST", "/audits/schedules", DAILY).body
    api.world.hosts.service.block("acme", "shop.example", "asked us to")
    api.world.clock.advance(24 * 3600)
    assert api.tick().refused == 1
    view = api.send("GET", f"/audits/schedules/{made['schedule_id']}").body
    assert view["last_error"] == "DOMAIN_BLOCKED"
    assert view["next_run_at"] > view["last_run_at"]
    assert api.send("GET", "/audits").body["items"] == []


def test_a_rendering_schedule_of_a_stage_whose_browser_is_gone_says_so_and_moves_on(
    api: AuditApi,
) -> None:
    schedule_id = api.send(
        "POST", "/audits/schedules", {"url": f"{HOST}/", "schedule_cron": "0 6 * * *"}
    ).body["schedule_id"]
    made = api.schedule_store.get("acme", schedule_id)
    assert made is not None
    api.schedule_store.replace(made, replace(made, options={"render": True}))
    api.world.clock.advance(24 * 3600)
    assert api.tick().refused == 1
    view = api.send("GET", f"/audits/schedules/{schedule_id}").body
    assert view["last_error"] == "DEPENDENCY_UNAVAILABLE"
    assert view["next_run_at"] > view["last_run_at"]


#
def test_an_answer_says_whether_the_score_is_high_enough() -> None:
    api = AuditApi()
    plain = api.send("GET", f"/audits/{api.audit()}").body
    assert (plain["fail_under"], plain["passed"]) == (None, None)
    for least, passes in ((plain["score"], True), (100, plain["score"] == 100), (0, True)):
        found = api.send("GET", f"/audits/{api.audit(fail_under=least, mode='debug')}").body
        assert (found["fail_under"], found["passed"]) == (least, passes)
    asked = api.send("POST", "/audits", {"url": f"{HOST}/", "fail_under": 80}).body
    waiting = api.send("GET", f"/audits/{asked['audit_id']}").body
    assert (waiting["fail_under"], waiting["passed"]) == (80, None)
    refused = api.send("POST", "/audits", {"url": f"{HOST}/", "fail_under": 101})
    assert refused.status == 422


#
@pytest.mark.parametrize(
    "options",
    [{"checks_off": ["no.such"]}, {"include": ["no slash"]}, {"exclude": ["no slash"]}],
)
@pytest.mark.parametrize("path", ["/audits", "/audits/schedules"])
def test_unknown_checks_and_bad_patterns_are_refused(path: str, options: dict[str, Any]) -> None:
    times = {"schedule_cron": "0 6 * * 1"} if path.endswith("schedules") else {}
    answer = AuditApi().send("POST", path, {"url": f"{HOST}/", "options": options, **times})
    assert answer.status == 422
    [name] = options
    assert answer.body["details"]["fields"][0]["path"].startswith(f"options.{name}")


#
def test_a_scheduled_audit_has_the_options_of_its_schedule(api: AuditApi) -> None:
    options = {"max_pages": 3, "exclude": ["/tag/**"], "checks_off": ["social.og"]}
    daily = {**DAILY, "recipe": "seo", "options": options}
    assert api.send("POST", "/audits/schedules", daily).body["options"] == options
    [(name, schedule)] = api.schedule_store.rows.items()
    api.schedule_store.rows[name] = SCHEDULES.decode(SCHEDULES.encode(schedule))  # as stored
    api.world.clock.advance(24 * 3600)
    assert api.tick().submitted == 1
    [audit] = api.send("GET", "/audits").body["items"]
    assert {name: audit["options"][name] for name in options} == options
