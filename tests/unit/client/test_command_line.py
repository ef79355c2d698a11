"""The command `spinneret`: exit codes, output formats, readable errors."""

# covers L-02
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from spinneret_client.cli import tools
from spinneret_client.cli.main import main
from spinneret_client.config import Profile, load, save
from spinneret_client.generated import models as m
from tests.unit.client.api import BASE, IMAGE, PAGE, Api, Routes, api
from tests.unit.client.conftest import KEY, SUBMISSION, URL, Server, refusal
from tests.unit.client.samples import audit, crawl, failure, sample

__all__ = ["api"]


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
    ("a file that isn't text", ["batch", "/bin/sh"], {}, 1),
    ("pages of no text", ["audit", "--urls", "/bin/sh"], {}, 1),
    ("products of no text", ["products", "import", "/bin/sh"], {}, 1),
    ("a life too long", ["keys", "create", "ci", "--expires", "99999999d"], {}, 1),
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


@pytest.mark.parametrize(
    ("message", "fields", "printed"),
    [
        ("invalid: limit", [("limit", "is too large")], "invalid: limit: is too large"),
        ("some are unknown", [("ids.0", "no such tag")], "some are unknown; ids.0: no such tag"),
        ("query is not English", [("query", "is not English")], "query is not English"),
    ],
)
def test_a_refusal_says_each_fault_once(
    api: Api,
    capsys: pytest.CaptureFixture[str],
    message: str,
    fields: list[tuple[str, str]],
    printed: str,
) -> None:
    faults = [{"path": path, "message": fault, "hint": None} for path, fault in fields]
    body = {"error": message, "code": "VALIDATION_ERROR", "details": {"fields": faults}}
    api.routes[SEARCH] = httpx.Response(422, json=body)
    main(["search", "silk"])
    assert capsys.readouterr().err == f"error: {printed}\n"


def test_a_value_that_is_no_choice_names_the_choices(capsys: pytest.CaptureFixture[str]) -> None:
    main(["search", "silk", "--mode", "psychic"])
    assert "'--mode': 'psychic' is not one of 'hybrid', " in capsys.readouterr().err


def test_the_console_opens_where_the_stage_has_one(
    api: Api, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["open"]) == 0
    api.routes["GET", "/console"] = httpx.Response(307, headers={"Location": "console/index.html"})
    assert main(["open"]) == 0
    assert capsys.readouterr().out.split() == [f"{URL}/docs", f"{URL}/console"]


@pytest.mark.parametrize("words", [[], ["jobs"]])
def test_without_a_verb_the_help_is_shown_and_no_error(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 1
    assert capsys.readouterr().err.startswith("Usage: ")


def test_an_interruption_says_how_to_look_again_and_how_to_cancel(
    api: Api, capsys: pytest.CaptureFixture[str]
) -> None:
    api.routes["GET", "/api/v1/crawl/job_1"] = _raising(KeyboardInterrupt())
    main(["crawl", PAGE, "--wait"])
    err = capsys.readouterr().err
    assert "spinneret jobs watch job_1" in err
    assert "spinneret jobs cancel job_1" in err


def test_an_interruption_advises_what_fits_the_work(
    api: Api, capsys: pytest.CaptureFixture[str]
) -> None:
    api.routes["GET", "/api/batch-jobs/mb_1"] = _raising(KeyboardInterrupt())
    assert main(["batches", "watch", "mb_1"]) == 130
    err = capsys.readouterr().err
    assert "spinneret batches watch mb_1" in err
    assert "spinneret jobs" not in err
    api.routes["GET", "/api/v1/crawl/job_1"] = _raising(KeyboardInterrupt())
    assert main(["check", PAGE]) == 130
    assert capsys.readouterr().err.splitlines()[-1] == "interrupted"


JSON: list[list[str]] = [
    ["crawl", PAGE],
    ["crawl", PAGE, "--wait"],
    ["search", "silk"],
    ["check", PAGE],
    ["audit", PAGE],
    ["jobs", "list"],
    ["jobs", "show", "job_1"],
    ["jobs", "cancel", "job_1"],
    ["keys", "revoke", "key_1", "--yes"],
    ["logout"],
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


def test_a_batch_of_refused_urls_hides_no_accepted_ones(
    api: Api, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command sends a file of more than 100 URLs in several requests."""
    file = tmp_path / "urls.txt"
    file.write_text(f"{PAGE}\n" * 100 + "ftp://example.com/\n")
    accepted = sample(m.UrlOutcome, url=PAGE, job_id="job_1")
    replies = [sample(m.BatchSubmission, jobs=[accepted]), refusal(422, "VALIDATION_ERROR")]
    api.routes["POST", "/api/v1/crawl/batch"] = lambda: replies.pop(0)
    assert main(["batch", str(file)]) == 8
    printed = capsys.readouterr()
    assert printed.out == f"job_1  {PAGE}\n"
    assert "refused: ftp://example.com/: because VALIDATION_ERROR" in printed.err
    replies = [refusal(422, "VALIDATION_ERROR")] * 2
    assert main(["batch", str(file)]) == 1


@pytest.mark.parametrize("words", [["batch"], ["audit", "--urls"]])
def test_the_mark_of_an_editor_is_no_part_of_a_url(
    api: Api, tmp_path: Path, words: list[str]
) -> None:
    file = tmp_path / "urls.txt"
    file.write_bytes(f"\ufeff{PAGE}\n  # a comment\n".encode())
    api.routes["POST", "/api/v1/crawl/batch"] = sample(m.BatchSubmission)
    main([*words, str(file)])
    [request] = [each for each in api.server.requests if each.method == "POST"]
    sent = json.loads(request.content)
    assert (sent.get("urls") or sent["options"]["urls"]) == [PAGE]


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


@pytest.mark.parametrize(("status", "code"), [(429, "RATE_LIMITED"), (503, "CIRCUIT_OPEN")])
def test_a_refusal_for_a_while_says_for_how_long(
    api: Api, capsys: pytest.CaptureFixture[str], status: int, code: str
) -> None:
    refused = refusal(status, code, headers={"Retry-After": "255"})
    api.routes["POST", "/api/v1/crawl"] = refused
    assert main(["crawl", "https://example.com/"]) == 1
    assert f"because {code}. Try again in 255 s" in capsys.readouterr().err


@pytest.mark.parametrize(("code", "is_stored"), [("FORBIDDEN", True), ("TENANT_SUSPENDED", False)])
def test_a_narrow_key_is_a_genuine_one(
    server: Server,
    no_profile: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    code: str,
    is_stored: bool,
) -> None:
    monkeypatch.setattr("spinneret_client.cli.accounts.Spinneret", lambda url, key: server.client())
    (tmp_path / "key").write_text("sk-narrow\n")
    server.script = [refusal(403, code)]
    with (tmp_path / "key").open() as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        assert main(["login", "--url", URL, "--key-stdin"]) == (0 if is_stored else 1)
    assert bool(load(no_profile)) is is_stored


def test_a_caller_is_shown_with_role_and_permissions(
    api: Api, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["whoami"]) == 0
    assert "(viewer)\nmay: search\n" in capsys.readouterr().out
    api.routes["GET", "/api/v1/auth/me"] = refusal(403, "FORBIDDEN")
    assert main(["whoami"]) == 0
    assert "use_account" in capsys.readouterr().out
    api.routes["GET", "/api/v1/auth/me"] = refusal(403, "TENANT_SUSPENDED")
    assert main(["whoami"]) == 1
    assert "Use a key" not in capsys.readouterr().err  # no key would help


def test_without_a_profile_the_command_says_how_to_sign_in(
    no_profile: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["search", "silk"]) == 4
    assert "spinneret login" in capsys.readouterr().err


def test_the_key_of_a_profile_is_used(no_profile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save(no_profile, "default", Profile(URL, KEY))
    shared = tools.Tools(tools.Output())
    assert shared.client.connection.key == KEY
