"""Screenshots, PDFs and scripts through their routes."""

import json
from typing import Any

import pytest

from crawl.media_routes import router
from spinneret.jobs.models import JobStatus, Transition
from spinneret.kernel.errors import BrowserFailed, PageTooLarge, ScriptError
from spinneret.media import limits
from spinneret.web.browser.models import Pdf, Screenshot, ScriptOutcome, Scripts
from tests.fakes.browser import IMAGES, Rendering
from tests.fakes.crashes import Crash
from tests.fakes.media import SITE, MediaWorld
from tests.unit.served import Served

PAGE = f"{SITE}/page"
SHOT, PDF, SCRIPTS = "/api/v1/screenshot", "/api/v1/pdf", "/api/v1/execute-js"


@pytest.fixture
def media() -> MediaWorld:
    world = MediaWorld()
    world.rendered[PAGE] = Rendering(console_errors=("it broke",))
    return world


@pytest.fixture
def api(media: MediaWorld) -> Served:
    return Served(router, media.service)


def finished(api: Served, media: MediaWorld, path: str, body: Any) -> dict[str, Any]:
    """Submit a request, let its job end, and return its view."""
    made = api.send("POST", path, body)
    assert (made.status, made.body["status"]) == (202, "pending"), made.body
    media.settle()
    return dict(api.send("GET", f"/api/v1/media/{made.body['job_id']}").body)


# covers C-11
def test_a_screenshot_becomes_an_object_with_a_url(api: Served, media: MediaWorld) -> None:
    shown = finished(api, media, SHOT, {"url": PAGE, "format": "webp"})
    [(key, body)] = media.media.objects.items()
    assert body.startswith(IMAGES[Screenshot().format.WEBP])
    assert key == f"T/acme/{shown['job_id']}.webp"
    assert shown["download_url"] == f"https://media.example/{key}?for=900"
    expected = {
        "kind": "screenshot",
        "status": "completed",
        "final_url": PAGE,
        "status_code": 200,
        "media_type": "image/webp",
        "bytes": len(body),
        "is_cut": False,
        "console_errors": ["it broke"],
        "scripts": None,
        "error": None,
    }
    assert {name: shown[name] for name in expected} == expected
    assert api.send("GET", f"/api/v1/media/{shown['job_id']}", tenant="globex").status == 404


def test_the_options_of_a_screenshot_reach_the_browser(api: Served, media: MediaWorld) -> None:
    body = {
        "url": PAGE,
        "wait_for": "main",
        "wait_seconds": 0.5,
        "full_page": False,
        "selector": "#box",
        "viewport": {"width": 800, "height": 600},
        "device_scale_factor": 2.0,
    }
    finished(api, media, SHOT, body)
    [request] = media.requests
    assert request.task == Screenshot(full_page=False, selector="#box")
    assert (request.wait_for, request.wait_seconds) == ("main", 0.5)
    window = request.viewport
    assert (window.width, window.height, window.scale) == (800, 600, 2.0)


def test_a_page_is_printed(api: Served, media: MediaWorld) -> None:
    shown = finished(
        api, media, PDF, {"url": PAGE, "format": "letter", "margins": {"top": 5.0, "left": 0.0}}
    )
    assert (shown["kind"], shown["media_type"]) == ("pdf", "application/pdf")
    [body] = media.media.objects.values()
    assert body.startswith(b"%PDF")
    task = media.requests[0].task
    assert isinstance(task, Pdf)
    margins = task.margins
    assert (task.paper, margins.top, margins.right, margins.left) == ("letter", 5.0, 10.0, 0.0)


def test_each_script_has_its_value_or_its_error(api: Served, media: MediaWorld) -> None:
    error = ScriptError("x is not defined", details={"line": 1, "column": 1})
    outcomes = (ScriptOutcome(value='{"a":[1,null]}'), ScriptOutcome(error=error))
    media.rendered[PAGE] = Rendering(scripts=outcomes)
    shown = finished(api, media, SCRIPTS, {"url": PAGE, "scripts": ["first()", "x"]})
    assert media.requests[0].task == Scripts(sources=("first()", "x"))
    expected = [
        {"value": {"a": [1, None]}, "error": None},
        {
            "value": None,
            "error": {
                "error": "x is not defined",
                "code": "SCRIPT_ERROR",
                "details": {"line": 1, "column": 1},
            },
        },
    ]
    assert shown["scripts"] == expected
    assert json.loads(media.media.objects[f"T/acme/{shown['job_id']}.json"]) == expected


def test_half_an_emoji_fails_no_job(api: Served, media: MediaWorld) -> None:
    """`text.slice(0, 100)` may cut an emoji in half, and no store accepts an unpaired surrogate."""
    thrown = ScriptError("x\ud83d", details={"line": 1, "column": 1})
    media.rendered[PAGE] = Rendering(
        console_errors=("half \ud83d",),
        scripts=(ScriptOutcome(value='"a\ud83d"'), ScriptOutcome(error=thrown)),
    )
    shown = finished(api, media, SCRIPTS, {"url": PAGE, "scripts": ["one", "two"]})
    assert (shown["status"], shown["error"]) == ("completed", None)
    assert shown["console_errors"] == ["half ?"]
    assert [shown["scripts"][0]["value"], shown["scripts"][1]["error"]["error"]] == ["a?", "x?"]


def test_large_results_of_scripts_are_only_in_the_object(api: Served, media: MediaWorld) -> None:
    large = json.dumps("x" * limits.SCRIPTS_SHOWN_BYTES)
    media.rendered[PAGE] = Rendering(scripts=(ScriptOutcome(value=large),))
    shown = finished(api, media, SCRIPTS, {"url": PAGE, "scripts": ["first()"]})
    assert (shown["scripts"], shown["status"]) == (None, "completed")
    assert shown["bytes"] > limits.SCRIPTS_SHOWN_BYTES


def test_scripts_are_not_in_the_job(api: Served, media: MediaWorld) -> None:
    """Scripts would be too large for the job and may contain secrets."""
    api.send("POST", SCRIPTS, {"url": PAGE, "scripts": ["login('hunter2')"]})
    assert "hunter2" not in str(media.job(media.queue.sent[0].ref))


def test_several_pages_are_several_jobs_and_refused_ones_have_errors(
    api: Served, media: MediaWorld
) -> None:
    urls = [PAGE, "http://localhost/", f"{SITE}/other/"]
    made = api.send("POST", SHOT, {"urls": urls})
    assert (made.status, made.body["total_submitted"], made.body["failed_count"]) == (202, 2, 1)
    assert [each["url"] for each in made.body["jobs"]] == urls
    assert made.body["jobs"][1]["error"]["code"] == "URL_BLOCKED"
    jobs = [media.job(sent.ref) for sent in media.queue.sent]
    assert {job.batch for job in jobs} == {made.body["batch_id"]}
    assert [job.payload["url"] for job in jobs] == [urls[0], urls[2]]
    assert api.send("POST", SHOT, {"urls": ["http://localhost/"]}).status == 422


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("http://127.0.0.1/", "URL_BLOCKED"),
        ("http://metadata.internal/", "URL_BLOCKED"),
        ("file:///etc/passwd", "URL_INVALID"),
        ("data:text/html,x", "URL_INVALID"),
    ],
)
def test_pages_that_no_fetch_reaches_are_refused(
    api: Served, media: MediaWorld, url: str, code: str
) -> None:
    for path, more in ((SHOT, {}), (PDF, {}), (SCRIPTS, {"scripts": ["1"]})):
        assert api.send("POST", path, {"url": url, **more}).body["code"] == code
    assert not media.media.objects


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (SHOT, {}),
        (SHOT, {"url": PAGE, "urls": [PAGE]}),
        (SHOT, {"urls": [PAGE] * 21}),
        (SHOT, {"url": PAGE, "viewport": {"width": 3841, "height": 10}}),
        (SHOT, {"url": PAGE, "device_scale_factor": 3.5}),
        (SHOT, {"url": PAGE, "format": "gif"}),
        (SHOT, {"url": PAGE, "wait_seconds": 31.0}),
        (PDF, {"url": PAGE, "margins": {"top": 101.0}}),
        (PDF, {"url": PAGE, "format": "A5"}),
        (SCRIPTS, {"url": PAGE, "scripts": []}),
        (SCRIPTS, {"url": PAGE, "scripts": ["1"] * 21}),
        (SCRIPTS, {"url": PAGE, "scripts": ["x" * (64 * 1024 + 1)]}),
    ],
)
def test_bad_requests_are_refused(api: Served, path: str, body: Any) -> None:
    assert api.send("POST", path, body).body["code"] == "VALIDATION_ERROR"


# covers C-11
@pytest.mark.parametrize(
    ("path", "body"),
    [
        (SHOT, {"url": PAGE}),
        (SHOT, {"urls": [PAGE]}),
        (PDF, {"url": PAGE}),
        (SCRIPTS, {"url": PAGE, "scripts": ["1"]}),
    ],
)
def test_a_stage_without_a_browser_answers_503_and_names_it(
    media: MediaWorld, path: str, body: Any
) -> None:
    media.has_browser = False
    answer = Served(router, media.service).send("POST", path, body)
    assert (answer.status, answer.body["code"]) == (503, "DEPENDENCY_UNAVAILABLE")
    assert "browser" in answer.body["error"]
    assert not media.queue.sent


def test_a_repeated_key_gets_the_same_job(api: Served, media: MediaWorld) -> None:
    headers = {"idempotency-key": "one"}
    first, second = (
        api.send("POST", SHOT, {"url": PAGE}, headers=headers).body["job_id"] for _ in range(2)
    )
    assert first == second
    assert api.send("POST", SHOT, {"url": PAGE}).body["job_id"] != first


# ---------------------------------------------------------------- Ends


def test_a_retry_leaves_no_second_object(api: Served, media: MediaWorld) -> None:
    made = api.send("POST", SHOT, {"url": PAGE}).body
    [sent] = media.queue.take()
    keep = media.media.keep

    def keep_then_die(*args: Any) -> str:
        keep(*args)
        raise BrowserFailed("the worker died after its object")

    media.media.keep = keep_then_die  # type: ignore[method-assign]  # a crash
    assert media.run(sent.ref).status is JobStatus.PENDING
    del media.media.keep  # type: ignore[method-assign]  # no further crash
    media.settle()
    shown = api.send("GET", f"/api/v1/media/{made['job_id']}").body
    assert (shown["status"], shown["attempts"]) == ("completed", 1)
    assert list(media.media.objects) == [f"T/acme/{made['job_id']}.png"]


def test_a_lost_worker_leaves_no_second_object(api: Served, media: MediaWorld) -> None:
    made = api.send("POST", SHOT, {"url": PAGE}).body
    [sent] = media.queue.take()
    keep = media.media.keep

    def keep_then_vanish(*args: Any) -> str:
        keep(*args)
        raise Crash

    media.media.keep = keep_then_vanish  # type: ignore[method-assign]  # a crash
    with pytest.raises(Crash):
        media.run(sent.ref)
    del media.media.keep  # type: ignore[method-assign]  # no further crash
    media.lose_worker(sent.ref)
    media.settle()
    assert api.send("GET", f"/api/v1/media/{made['job_id']}").body["status"] == "completed"
    assert list(media.media.objects) == [f"T/acme/{made['job_id']}.png"]


def test_a_cancelled_job_opens_no_page(api: Served, media: MediaWorld) -> None:
    made = api.send("POST", SHOT, {"url": PAGE}).body
    [sent] = media.queue.take()
    media.control.move(sent.ref, Transition.CANCEL)
    assert media.run(sent.ref).status is JobStatus.CANCELLED
    assert media.requests == []
    assert api.send("GET", f"/api/v1/media/{made['job_id']}").body["download_url"] is None


def test_a_page_that_is_too_large_fails_at_once(api: Served, media: MediaWorld) -> None:
    media.rendered[PAGE] = PageTooLarge("the page of site.example takes more than 300 frames")
    shown = finished(api, media, SHOT, {"url": PAGE})
    assert (shown["status"], shown["attempts"]) == ("failed", 1)
    assert (shown["error"]["code"], shown["download_url"]) == ("PAGE_TOO_LARGE", None)
    assert media.media.objects == {}


def test_robots_txt_and_the_host_s_pace_hold_for_the_main_document(
    api: Served, media: MediaWorld
) -> None:
    media.serve_robots("User-agent: *\nDisallow: /page")
    shown = finished(api, media, SHOT, {"url": PAGE})
    assert (shown["status"], shown["error"]["code"]) == ("failed", "ROBOTS_DISALLOWED")
    assert media.requests == []


def test_the_jobs_of_one_host_are_paced(api: Served, media: MediaWorld) -> None:
    began = media.clock()
    for _ in range(20):
        media.rendered[PAGE] = Rendering()
        finished(api, media, SHOT, {"url": PAGE})
    assert (media.clock() - began).total_seconds() >= 14  # one per second after a burst of 5


def test_an_expired_object_has_no_url(api: Served, media: MediaWorld) -> None:
    shown = finished(api, media, SHOT, {"url": PAGE})
    media.clock.advance(limits.MEDIA_KEPT_SECONDS)
    again = api.send("GET", f"/api/v1/media/{shown['job_id']}").body
    assert (again["download_url"], again["expires_at"]) == (None, shown["expires_at"])


def test_a_job_near_the_deadline_goes_back_uncharged(api: Served, media: MediaWorld) -> None:
    api.send("POST", SHOT, {"url": PAGE})
    media.remaining = 20.0
    [sent] = media.queue.take()
    job = media.run(sent.ref)
    assert (job.status, job.attempts, media.requests) == (JobStatus.PENDING, 0, [])
