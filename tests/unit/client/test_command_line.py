"""The command `spinneret`: exit codes, forms of output, errors in words."""

# covers L-02
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from spinneret_client.cli import tools
from spinneret_client.cli.main import main
from spinneret_client.config import Profile, load, save
from spinneret_client.generated import models as m
from spinneret_client.model import Model
from tests.unit.client.conftest import KEY, SUBMISSION, URL, Server, event, refusal, sse, stream
from tests.unit.client.samples import audit, crawl, failure, found, hit, sample

PAGE = "https://example.com/"
Routes = dict[tuple[str, str], Any]
BASE: Routes = {
    ("POST", "/api/v1/crawl"): SUBMISSION,
    ("GET", "/api/v1/crawl/job_1"): crawl(url=PAGE, markdown="# Page"),
    ("GET", "/api/v1/jobs/job_1"): sample(m.JobWithCounts, job_id="job_1", status="completed"),
    ("POST", "/api/v1/jobs/job_1/cancel"): sample(m.Moved, job_id="job_1", status="cancelled"),
    ("POST", "/api/v1/search"): found(hit()),
    ("POST", "/audits"): sample(m.AuditSubmission, audit_id="audit_1", status="pending"),
    ("GET", "/audits/audit_1"): audit(url=PAGE, score=80.0, grade="B", categories={"seo": 80.0}),
    ("GET", "/audits/audit_1/issues"): {"items": [], "next_cursor": None, "has_more": False},
    ("GET", "/audits/audit_1/report"): sample(m.ReportView, url="https://store.example/report"),
    ("GET", "/report"): httpx.Response(200, text="<report>"),
    ("GET", "/api/v1/jobs"): {"items": [], "next_cursor": None, "has_more": False},
    ("GET", "/api/v1/api-keys"): refusal(403, "FORBIDDEN"),
    ("GET", "/api/v1/auth/me"): sample(m.CallerView, role="viewer", permissions=["search"]),
    ("GET", "/api/v1/users/u_1"): sample(m.UserView, user_id="u_1", name="Maya", role="seller"),
    ("PUT", "/api/v1/users/u_1"): sample(m.UserView, user_id="u_1", role="viewer"),
    ("POST", "/api/v1/users"): sample(m.InvitedUser, invitation="spi_1"),
    ("POST", "/api/v1/api-keys"): sample(m.IssuedKey, key_id="key_1", secret="spn_1"),
    ("DELETE", "/api/v1/api-keys/key_1"): httpx.Response(204),
}


IMAGE: dict[str, Any] = sample(
    m.MediaView, job_id="job_1", status="completed", download_url="https://store.example/report"
)
BASE |= {
    ("POST", "/api/v1/screenshot"): sample(m.MediaSubmission, job_id="job_1", status="pending"),
    ("GET", "/api/v1/media/job_1"): IMAGE,
}


class Api:
    """A fake API: a reply for each route; streams have two events and end."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.routes: Routes = dict(BASE)
        server.route = self._reply

    def _reply(self, request: httpx.Request) -> httpx.Response | Exception:
        if request.url.path.endswith("/stream"):
            if request.headers.get("Last-Event-ID"):
                return httpx.Response(204)
            return stream(sse([event(1), event(50)]))
        reply = self.routes.get((request.method, request.url.path))
        if callable(reply):
            reply = reply()
        if reply is None:
            return refusal(404, "NOT_FOUND")
        if isinstance(reply, (httpx.Response, Exception)):
            return reply
        return httpx.Response(202 if request.method == "POST" else 200, json=reply)


@pytest.fixture
def api(server: Server, monkeypatch: pytest.MonkeyPatch) -> Api:
    """The command's client has the fake API below it, and never sleeps."""
    monkeypatch.setattr(tools, "Spinneret", lambda url, profile: server.client())
    monkeypatch.setattr("spinneret_client.links.PAUSE", 0)
    monkeypatch.setattr("time.sleep", server.slept.append)
    return Api(server)


def _failed(code: str = "HTTP_ERROR", status: int | None = 404) -> dict[str, Any]:
    error = failure(code, "the page can't be read")
    return crawl("failed", url=PAGE, error=error, status_code=status)


JOB: Final = ("GET", "/api/v1/crawl/job_1")
CRAWL: Final = ("POST", "/api/v1/crawl")
SEARCH: Final = ("POST", "/api/v1/search")
AUDIT: Final = ("GET", "/audits/audit_1")
WAIT: Final = ["crawl", PAGE, "--wait"]
CHECK: Final = ["check", PAGE]
PART: Final = crawl("partially_failed", url=PAGE)
FAILED: Final = audit("failed", url=PAGE)
PARTLY: Final = audit("partially_failed", url=PAGE, score=99.0)
PRODUCT: Final = ("GET", "/api/products/prd_1")
CHANGE: Final = ["products", "change", "prd_1", "--choose", "location=store-1"]
EXITS: list[tuple[str, list[str], Routes, int]] = [
    ("a submission", ["crawl", PAGE], {}, 0),
    ("a finished crawl", WAIT, {}, 0),
    ("a failed crawl", WAIT, {JOB: _failed()}, 1),
    ("a part", WAIT, {JOB: PART}, 8),
    ("an unknown verb", ["crwl", PAGE], {}, 1),
    ("an unknown option", ["crawl", PAGE, "--wiat"], {}, 1),
    ("a missing argument", ["crawl"], {}, 1),
    ("a bad value", ["search", "silk", "--mode", "psychic"], {}, 1),
    ("a bad filter", ["search", "silk", "--filter", "colour=red"], {}, 1),
    ("two forms", ["--json", "--jsonl", "search", "silk"], {}, 1),
    ("no unit", ["check", PAGE, "--timeout", "30"], {}, 1),
    ("no answer to a question", ["keys", "revoke", "key_1"], {}, 1),
    ("a given answer", ["keys", "revoke", "key_1", "--yes"], {}, 0),
    ("a wrong key", ["search", "silk"], {SEARCH: refusal(401, "AUTH_REQUIRED")}, 4),
    ("a narrow key", ["keys", "list"], {}, 1),
    ("an outage", ["search", "silk"], {SEARCH: httpx.ConnectError("refused")}, 1),
    ("an unknown job", ["jobs", "show", "job_9"], {}, 1),
    ("an audit", ["audit", PAGE], {}, 0),
    ("a passed gate", ["audit", PAGE, "--fail-under", "80"], {}, 0),
    ("a tripped gate", ["audit", PAGE, "--fail-under", "80.1"], {}, 2),
    ("an impossible gate", ["audit", PAGE, "--fail-under", "101"], {}, 1),
    ("a failed audit", ["audit", PAGE, "--fail-under=1"], {AUDIT: FAILED}, 1),
    ("a partial audit", ["audit", PAGE], {AUDIT: PARTLY}, 8),
    ("a working link", CHECK, {}, 0),
    ("a broken link", CHECK, {JOB: _failed()}, 2),
    ("a hidden link", CHECK, {JOB: _failed("ROBOTS_DISALLOWED")}, 8),
    ("a silent link", CHECK, {JOB: _failed("FETCH_TIMEOUT")}, 8),
    ("a forbidden link", CHECK, {JOB: _failed(status=403)}, 8),
    ("a lost link", CHECK, {JOB: _failed("FETCH_FAILED", None)}, 2),
    ("a private link", CHECK, {CRAWL: refusal(403, "URL_BLOCKED")}, 8),
    ("a malformed link", CHECK, {CRAWL: refusal(400, "URL_INVALID")}, 2),
    ("hours without a dash", ["watch", "add", PAGE, "--quiet-hours", "22:00"], {}, 1),
    ("a header without a colon", ["audit", PAGE, "--header", "secret"], {}, 1),
    ("a choice without an id", ["selling", "change", "ebay", "--choose", "location"], {}, 1),
    ("a choice of no marketplace", CHANGE, {PRODUCT: sample(m.ProductView)}, 1),
    ("an interruption", WAIT, {JOB: KeyboardInterrupt()}, 130),
    ("a missing file", ["batch", "/nonexistent"], {}, 1),
    ("help", ["--help"], {}, 0),
]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "routes", "code"), [each[1:] for each in EXITS], ids=[each[0] for each in EXITS]
)
def test_exit_codes(
    api: Api, capsys: pytest.CaptureFixture[str], arguments: list[str], routes: Routes, code: int
) -> None:
    for place, reply in routes.items():
        api.routes[place] = _raising(reply) if isinstance(reply, BaseException) else reply
    assert main(arguments) == code
    printed = capsys.readouterr()
    assert "Traceback" not in printed.out + printed.err
    if code in (1, 4):
        assert "error:" in printed.err or "failed" in printed.out


def _raising(error: BaseException) -> Callable[[], Any]:
    def reply() -> Any:
        raise error

    return reply


def test_an_interruption_says_how_to_look_again_and_how_to_cancel(
    api: Api, capsys: pytest.CaptureFixture[str]
) -> None:
    api.routes["GET", "/api/v1/crawl/job_1"] = _raising(KeyboardInterrupt())
    main(["crawl", PAGE, "--wait"])
    err = capsys.readouterr().err
    assert "spinneret jobs watch job_1" in err
    assert "spinneret jobs cancel job_1" in err


JSON: list[list[str]] = [
    ["crawl", PAGE],
    ["crawl", PAGE, "--wait"],
    ["search", "silk"],
    ["check", PAGE],
    ["audit", PAGE],
    ["jobs", "list"],
    ["jobs", "show", "job_1"],
    ["jobs", "cancel", "job_1"],
    ["whoami"],
]


@pytest.mark.parametrize("arguments", JSON, ids=" ".join)
def test_json_is_one_document_with_a_schema_version(
    api: Api, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    api.routes["POST", "/api/v1/crawl"] = SUBMISSION
    assert main([*arguments, "--json"]) == 0
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    assert json.loads(out)["schema_version"] == 1


def test_jsonl_has_the_events_before_the_result(
    api: Api, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["crawl", PAGE, "--wait", "--jsonl"])
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [each["type"] for each in lines] == ["event", "event", "result"]
    assert lines[-1]["status"] == "completed"


def test_without_a_terminal_progress_is_a_plain_line_on_stderr(
    api: Api, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["crawl", PAGE, "--wait"])
    printed = capsys.readouterr()
    assert printed.out == f"completed  {PAGE}\n"
    assert printed.err == "job_1 1% step 1\n"


def test_quiet_prints_the_result_alone(api: Api, capsys: pytest.CaptureFixture[str]) -> None:
    main(["--quiet", "crawl", PAGE, "--wait"])
    printed = capsys.readouterr()
    assert printed.out == f"completed  {PAGE}\n"
    assert printed.err == ""


def test_options_of_all_verbs_may_stand_anywhere(
    api: Api, capsys: pytest.CaptureFixture[str]
) -> None:
    for arguments in (["--json", "search", "silk"], ["search", "--json", "silk"]):
        main(arguments)
        assert json.loads(capsys.readouterr().out)["results"]
    main(["search", "--", "--json"])
    assert json.loads(api.server.requests[-1].content)["query"] == "--json"


def test_pages_are_written_as_markdown(
    api: Api, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["crawl", PAGE, "--out", str(tmp_path / "pages"), "--json"])
    (path,) = json.loads(capsys.readouterr().out)["files"]
    assert Path(path).read_text() == "# Page"
    assert Path(path).name.startswith("example.com-")


@pytest.mark.parametrize("form", ["a file", "an address"])
def test_a_screenshot_is_written_or_its_address_printed(
    api: Api, tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    out = tmp_path / "page.png"
    words = ["--out", str(out)] if form == "a file" else ["--selector", "h1", "--width", "800"]
    assert main(["screenshot", PAGE, *words]) == 0
    shown = str(out) if form == "a file" else IMAGE["download_url"]
    assert capsys.readouterr().out == f"completed  {PAGE}\n{shown}\n"
    assert out.exists() == (form == "a file")
    if form == "an address":
        sent = json.loads(api.server.requests[0].content)
        assert sent["selector"] == "h1"
        assert sent["viewport"] == {"width": 800, "height": 800}
    api.routes["GET", "/api/v1/media/job_1"] = {**IMAGE, "status": "failed", "download_url": None}
    assert main(["screenshot", PAGE, *words]) == 1


@pytest.mark.parametrize(("word", "sent"), [("always", True), ("auto", "auto")])
def test_one_page_may_be_rendered(api: Api, word: str, sent: Any) -> None:
    assert main(["crawl", PAGE, "--render", word]) == 0
    assert json.loads(api.server.requests[0].content)["render"] == sent
    assert main(["crawl", PAGE, f"{PAGE}2", "--render", word]) == 1
    assert main(["crawl", PAGE, "--deep", "--render", word]) == 1


def test_a_report_is_written_and_its_gate_named_on_stderr(
    api: Api, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "audit.sarif"
    command = ["audit", PAGE, "--fail-under", "90", "--format", "sarif", "--out", str(out)]
    assert main(command) == 2
    assert out.read_text() == "<report>"
    assert "80.0 is below 90" in capsys.readouterr().err
    store = [each for each in api.server.requests if each.url.host == "store.example"]
    assert "Authorization" not in store[0].headers


def test_a_hit_shows_its_scores_and_leg_without_markup(
    api: Api, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["search", "silk", "--filter", "domain=example.com", "--filter", "domain=b.example"])
    out = capsys.readouterr().out
    assert "Silk [of] spiders" in out
    assert "0.7500, found by fused (vector 0.65 keyword 0.20)" in out
    assert "The sticky silk of the spiral" in out
    sent = json.loads(api.server.requests[-1].content)
    assert sent["domains"] == ["example.com", "b.example"]


def test_an_error_names_the_faulty_fields(api: Api, capsys: pytest.CaptureFixture[str]) -> None:
    fields = [
        {"path": "query", "message": "too long", "hint": None},
        {"path": "lmit", "message": "unknown", "hint": "did you mean limit?"},
    ]
    api.routes["POST", "/api/v1/search"] = refusal(422, "VALIDATION_ERROR", fields=fields)
    main(["search", "silk"])
    err = capsys.readouterr().err
    assert "query: too long; lmit: unknown\n  did you mean limit?\n" in err


def test_a_login_is_verified_before_it_is_stored(
    server: Server, no_profile: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("spinneret_client.cli.accounts.Spinneret", lambda url, key: server.client())
    key = tmp_path / "key"
    key.write_text("sk-new\n")
    server.script = [refusal(401, "AUTH_REQUIRED")]
    with key.open() as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        assert main(["login", "--url", URL, "--key-stdin"]) == 4
    assert load(no_profile) == {}
    server.script = [httpx.Response(200, json=BASE["GET", "/api/v1/jobs"])]
    with key.open() as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        assert main(["login", "--url", URL, "--key-stdin", "--profile", "ci"]) == 0
    assert load(no_profile) == {"ci": Profile(URL, "sk-new")}
    assert main(["logout", "--profile", "ci"]) == 0
    assert load(no_profile) == {}


def test_a_caller_is_shown_with_role_and_permissions(
    api: Api, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["whoami"]) == 0
    assert "(viewer)\nmay: search\n" in capsys.readouterr().out
    api.routes["GET", "/api/v1/auth/me"] = refusal(403, "FORBIDDEN")
    assert main(["whoami"]) == 0
    assert "use_account" in capsys.readouterr().out


def test_a_key_is_created_narrowed_and_for_a_time(
    api: Api, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--scope", "write", "--permission", "crawl", "--permission", "search"]
    assert main(["keys", "create", "ci", *words, "--expires", "90d", "--rate", "120"]) == 0
    assert capsys.readouterr().out == "spn_1\n"
    sent = json.loads(api.server.requests[-1].content)
    end = datetime.fromisoformat(sent.pop("expires_at")) - datetime.now(UTC)
    assert 89 < end.total_seconds() / 86400 <= 90
    assert sent == {
        "name": "ci",
        "scopes": ["write"],
        "permissions": ["crawl", "search"],
        "rate_limit_rpm": 120,
    }


def test_a_person_is_invited_and_changed(api: Api, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["users", "invite", "maya@example.com", "Maya", "--role", "seller"]) == 0
    assert capsys.readouterr().out == "spi_1\n"
    assert main(["users", "change", "u_1", "--role", "viewer"]) == 0
    sent = json.loads(api.server.requests[-1].content)
    assert (sent["name"], sent["role"]) == ("Maya", "viewer")
    assert main(["users", "change", "u_1", "--inactive"]) == 0
    sent = json.loads(api.server.requests[-1].content)
    assert (sent["role"], sent["is_active"]) == ("seller", False)


def test_without_a_profile_the_command_says_how_to_sign_in(
    no_profile: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["search", "silk"]) == 4
    assert "spinneret login" in capsys.readouterr().err


def test_products_of_a_file_are_created_line_by_line(
    api: Api, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "products.csv"
    file.write_text(
        "title,description,price,images,brand\n"
        "Loom,A loom,1999,https://x/1|https://x/2,Jacquard\n"
        "Reel,A reel,cheap,,\n"
    )
    api.routes["POST", "/api/products"] = sample(m.ProductView, product_id="prod_1")
    assert main(["products", "import", str(file), "--json"]) == 8
    lines = json.loads(capsys.readouterr().out)["items"]
    assert lines[0] == {"line": 2, "product_id": "prod_1", "error": None}
    assert "cheap" in lines[1]["error"]
    sent = json.loads(api.server.requests[-1].content)
    assert sent["images"] == ["https://x/1", "https://x/2"]
    assert sent["attributes"] == {"brand": "Jacquard"}
    assert sent["price"] == 1999


def test_selling_is_shown_and_changed_where_it_is_given(
    api: Api, capsys: pytest.CaptureFixture[str]
) -> None:
    path = "/api/marketplace/ebay/preferences"
    api.routes["PATCH", path] = sample(m.PreferencesView, paused_at="2026-01-02T12:00:00Z")
    words = "--pause --price-ending 0 --choose location=berlin --choose payment_policy="
    assert main(["selling", "change", "ebay", *words.split()]) == 0
    assert json.loads(api.server.requests[-1].content) == {
        "is_paused": True,
        "price_ending": 0,
        "choices": {"location": "berlin", "payment_policy": None},
    }
    assert "paused since 2026" in capsys.readouterr().out


def test_a_staging_sites_pages_are_audited_with_their_credentials(api: Api, tmp_path: Path) -> None:
    pages = tmp_path / "pages.txt"
    pages.write_text(f"{PAGE}\n{PAGE}/b\n")
    words = ["--urls", str(pages), "--header", "Authorization: Basic x", "--cookie", "a=b"]
    assert main(["audit", *words]) == 0
    [request] = [each for each in api.server.requests if each.method == "POST"]
    sent = json.loads(request.content)
    assert sent["options"]["urls"] == [PAGE, f"{PAGE}/b"]
    assert (sent["headers"], sent["cookie"]) == ({"Authorization": "Basic x"}, "a=b")
    assert "url" not in sent


def test_an_import_of_listings_is_followed_to_its_counts(
    api: Api, capsys: pytest.CaptureFixture[str]
) -> None:
    job = sample(
        m.MarketplaceJobWithTasks,
        job_id="job_1",
        status="completed",
        completed_at="2026-01-02T12:00:00Z",
        result_data={"listings": 3, "linked": 2, "conflict": 1},
    )
    api.routes["POST", "/api/marketplace/etsy/import"] = job
    api.routes["GET", "/api/marketplace/jobs/job_1"] = job
    assert main(["listings", "import", "etsy", "--create", "--wait"]) == 0
    assert capsys.readouterr().out == "completed job_1: 3 listings, 2 linked, 1 conflict\n"
    row = sample(m.ImportedListingView, external_id="11", outcome="conflict", reason="two of them")
    page = {"items": [row], "next_cursor": None, "has_more": False}
    api.routes["GET", "/api/marketplace/jobs/job_1/listings"] = page
    assert main(["listings", "imported", "job_1", "--outcome", "conflict"]) == 0
    assert "two of them" in capsys.readouterr().out
    assert api.server.requests[-1].url.params["outcome"] == "conflict"


def test_choices_are_listed_with_their_ids(api: Api, capsys: pytest.CaptureFixture[str]) -> None:
    api.routes["GET", "/api/marketplace/ebay/choices"] = {
        "marketplace": "ebay",
        "site": "EBAY_GB",
        "items": [{"name": "location", "description": "x", "options": [{"id": "b", "title": "B"}]}],
    }
    assert main(["selling", "choices", "ebay", "--site", "EBAY_GB"]) == 0
    assert capsys.readouterr().out.split() == ["location", "(x)", "b", "B"]
    assert api.server.requests[-1].url.params["site"] == "EBAY_GB"


def test_the_key_of_a_profile_is_used(no_profile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save(no_profile, "default", Profile(URL, KEY))
    shared = tools.Tools(tools.Output())
    assert shared.client.connection.key == KEY


def test_the_options_of_a_target_are_sent_in_the_units_of_the_api(api: Api, server: Server) -> None:
    api.routes["POST", "/v1/targets"] = sample(m.TargetView, id="t_1", url=PAGE)
    words = "--every 24h --retry 2m --remind 90m --quiet-hours 22:00-07:00 --zone Europe/Berlin"
    asked = ["--method", "POST", "--header", "X-Key: one", "--body", "ask"]
    assert main(["watch", "add", PAGE, *words.split(), *asked]) == 0
    [request] = [each for each in server.requests if each.method == "POST"]
    sent = {name: value for name, value in json.loads(request.content).items() if value}
    assert sent == {
        "url": PAGE,
        "method": "POST",
        "request": {"headers": {"X-Key": "one"}, "body": "ask"},
        "interval_seconds": 86_400,
        "retry_seconds": 120,
        "reminder_minutes": 90,
        "quiet_hours": {"start": "22:00", "end": "07:00", "timezone": "Europe/Berlin"},
    }


@pytest.mark.parametrize(
    ("words", "sent"),
    [
        ("tcp db.example 5432", {"kind": "tcp", "host": "db.example", "port": 5432}),
        (
            "dns a.example MX --expect one --expect two --every 5m",
            {
                "kind": "dns",
                "host": "a.example",
                "record_type": "MX",
                "expected": ["one", "two"],
                "interval_seconds": 300,
            },
        ),
        (
            "tcp db.example 5432 --retry 2m --failure-threshold 3 --recovery-threshold 1 --public",
            {
                "kind": "tcp",
                "host": "db.example",
                "port": 5432,
                "public": True,
                "retry_seconds": 120,
                "failure_threshold": 3,
                "recovery_threshold": 1,
            },
        ),
        (
            "heartbeat Backup --grace 1h --remind 2h --quiet-hours 22:00-07:00",
            {
                "kind": "heartbeat",
                "name": "Backup",
                "interval_seconds": 86_400,
                "grace_seconds": 3600,
                "reminder_minutes": 120,
                "quiet_hours": {"start": "22:00", "end": "07:00", "timezone": "UTC"},
            },
        ),
    ],
)
def test_a_target_of_each_kind_has_a_command(
    api: Api, server: Server, capsys: pytest.CaptureFixture[str], words: str, sent: dict[str, Any]
) -> None:
    api.routes["POST", "/v1/targets"] = sample(m.TargetView, id="t_1", name="Backup")
    path = "/v1/targets/t_1/heartbeat"
    api.routes["POST", path] = sample(m.HeartbeatView, path="/heartbeats?token=hush")
    assert main(["watch", *words.split()]) == 0
    created = next(each for each in server.requests if each.method == "POST")
    assert {name: each for name, each in json.loads(created.content).items() if each} == sent
    assert (f"{URL}/heartbeats?token=hush" in capsys.readouterr().out) == ("heartbeat" in words)


LEFT_OUT: Final = ["--include", "/blog/**", "--exclude", "/tag/**", "--off", "social.og"]
AUDITED: Final = {
    "include": ["/blog/**"],
    "exclude": ["/tag/**"],
    "checks_off": ["social.og"],
    "render": True,
}
SENT: list[tuple[list[str], tuple[str, str], type[Model], Any]] = [
    (
        ["audit", PAGE, *LEFT_OUT, "--render"],
        ("POST", "/audits"),
        m.AuditSubmission,
        {"url": PAGE, "options": AUDITED, "headers": {}},
    ),
    (
        [
            *["schedules", "add", PAGE, "--cron", "0 7 * * 1", "--fail-under", "90"],
            *[*LEFT_OUT, "--render", "--header", "X-Stage: one"],
        ],
        ("POST", "/audits/schedules"),
        m.AuditScheduleView,
        {
            "url": PAGE,
            "options": AUDITED,
            "headers": {"X-Stage": "one"},
            "schedule_cron": "0 7 * * 1",
            "timezone": "UTC",
            "fail_under": 90,
        },
    ),
    (
        [
            *["webhooks", "add", "https://ntfy.example/topic", "--kind", "ntfy"],
            *["--event", "target.down", "--header", "Authorization: Bearer tk_1"],
        ],
        ("POST", "/api/v1/webhooks"),
        m.IssuedEndpoint,
        {
            "url": "https://ntfy.example/topic",
            "name": "ntfy",
            "kind": "ntfy",
            "events": ["target.down"],
            "headers": {"Authorization": "Bearer tk_1"},
        },
    ),
    (
        ["webhooks", "test", "wh_1"],
        ("POST", "/api/v1/webhooks/wh_1/test"),
        m.DeliverySubmission,
        None,
    ),
    (["watch", "pause", "t_1"], ("POST", "/v1/targets/t_1/pause"), m.TargetView, None),
    (["watch", "resume", "t_1"], ("POST", "/v1/targets/t_1/resume"), m.TargetView, None),
    (
        ["watch", "change", "t_1", "--private", "--failure-threshold", "2"],
        ("PATCH", "/v1/targets/t_1"),
        m.TargetView,
        {"public": False, "failure_threshold": 2},
    ),
]


@pytest.mark.parametrize(
    ("arguments", "place", "reply", "sent"), SENT, ids=[" ".join(each[0][:2]) for each in SENT]
)
def test_what_commands_send(
    api: Api, arguments: list[str], place: tuple[str, str], reply: type[Model], sent: Any
) -> None:
    values = {"audit_id": "audit_1", "status": "pending"} if reply is m.AuditSubmission else {}
    api.routes[place] = sample(reply, **values)
    assert main(arguments) == 0
    method, path = place
    [request] = [
        each for each in api.server.requests if (each.method, each.url.path) == (method, path)
    ]
    assert (json.loads(request.content) if request.content else None) == sent


def test_schedules_are_listed_and_removed(api: Api, capsys: pytest.CaptureFixture[str]) -> None:
    row = sample(m.AuditScheduleView, schedule_id="asched_1", url=PAGE, schedule_cron="0 7 * * 1")
    api.routes["GET", "/audits/schedules"] = {"items": [row], "next_cursor": None}
    api.routes["DELETE", "/audits/schedules/asched_1"] = httpx.Response(204)
    assert main(["schedules", "list"]) == 0
    assert capsys.readouterr().out.startswith(f"asched_1\t{PAGE}\t0 7 * * 1\t")
    assert main(["schedules", "remove", "asched_1", "--yes"]) == 0
    assert api.server.requests[-1].method == "DELETE"


def test_a_plan_is_shown_before_products_are_published_at_a_time(
    api: Api, capsys: pytest.CaptureFixture[str]
) -> None:
    problem = {"path": "images", "message": "at least one", "hint": None}
    rule = {"field": "price", "product": 2500, "shown": 2999}
    items = [
        sample(m.ProspectView, product_id="prd_1", outcome="creates", rules=[rule]),
        sample(m.ProspectView, product_id="prd_2", outcome="refused", fields=[problem]),
    ]
    plan = sample(m.PlanView, total_count=2, refused_count=1, items=items)
    api.routes["POST", "/api/batch-jobs/plan"] = plan
    api.routes["POST", "/api/batch-jobs"] = sample(m.BatchJobView, batch_id="mb_1")
    words = ["publish", "ebay", "publish", "prd_1", "prd_2", "--at", "2026-01-31T18:00:00Z"]
    assert main(words) == 1  # nobody could be asked
    lines = capsys.readouterr().err.splitlines()
    assert lines[:3] == [
        "prd_1: price 2500 becomes 2999",
        "refused prd_2: images: at least one",
        "2 products on ebay, 1 refused",
    ]
    assert [each.url.path for each in api.server.requests] == ["/api/batch-jobs/plan"]
    assert main([*words, "--yes"]) == 0
    assert [json.loads(each.content) for each in api.server.requests[1:]] == [
        {
            "marketplace": "ebay",
            "action_code": "publish",
            "product_ids": ["prd_1", "prd_2"],
            "publish_at": "2026-01-31T18:00:00Z",
        }
    ] * 2


def test_a_product_gets_its_own_choices_and_keeps_the_rest(api: Api) -> None:
    etsy = {"title": "Warm coat", "choices": {"shop_section": "3", "return_policy": "4"}}
    product = sample(m.ProductView, title="Coat", price=8500, overrides={"etsy": etsy})
    api.routes["GET", "/api/products/prd_1"] = product
    api.routes["PUT", "/api/products/prd_1"] = product
    words = "--choose ebay.location=store-1 --choose etsy.shop_section="
    assert main(["products", "change", "prd_1", *words.split()]) == 0
    sent = json.loads(api.server.requests[-1].content)
    assert (sent["title"], sent["price"], "sku" in sent) == ("Coat", 8500, False)
    assert sent["overrides"]["ebay"] == {"choices": {"location": "store-1"}}
    assert sent["overrides"]["etsy"]["title"] == "Warm coat"
    assert sent["overrides"]["etsy"]["choices"] == {"return_policy": "4"}
    assert sent.keys().isdisjoint({"product_id", "created_at", "updated_at"})


def test_a_page_is_changed_or_else_created(
    api: Api, server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    page = sample(m.StatusPageView, path="/status/acme")
    api.routes["PUT", "/v1/status-pages/acme"] = page
    words = ["status", "publish", "acme", "Acme", "--group", "Shop=t_1, t_2"]
    assert main(words) == 0
    groups = [{"name": "Shop", "target_ids": ["t_1", "t_2"]}]
    assert json.loads(server.requests[-1].content) == {"title": "Acme", "groups": groups}
    del api.routes["PUT", "/v1/status-pages/acme"]
    api.routes["POST", "/v1/status-pages"] = page
    assert main(words) == 0
    assert json.loads(server.requests[-1].content)["slug"] == "acme"
    assert f"{URL}/status/acme" in capsys.readouterr().out


def test_a_notice_is_posted_and_updated(api: Api, server: Server) -> None:
    notice = sample(m.NoticeView, id="nt_1")
    api.routes["POST", "/v1/status-notices"] = notice
    api.routes["POST", "/v1/status-notices/nt_1/updates"] = notice
    assert main(["status", "post", "Payments", "Some fail.", "--page", "acme"]) == 0
    sent = {name: each for name, each in json.loads(server.requests[-1].content).items() if each}
    wanted = {"kind": "incident", "title": "Payments", "text": "Some fail.", "slugs": ["acme"]}
    assert sent == wanted
    assert main(["status", "update", "nt_1", "resolved", "Works."]) == 0
    assert json.loads(server.requests[-1].content) == {"status": "resolved", "text": "Works."}
