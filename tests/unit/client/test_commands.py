"""The command `spinneret`: the requests and the output of its commands."""

# covers L-02
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from spinneret_client.cli.main import main
from spinneret_client.generated import models as m
from spinneret_client.model import Model
from tests.unit.client.api import PAGE, Api, api
from tests.unit.client.conftest import URL, Server
from tests.unit.client.samples import sample

__all__ = ["api"]


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


def test_an_import_that_breaks_off_shows_what_was_created(
    api: Api, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "products.csv"
    file.write_text("title,description,price\n" + "Loom,A loom,1999\n" * 3)
    replies = [sample(m.ProductView, product_id="prod_1"), httpx.ReadError("reset")]
    api.routes["POST", "/api/products"] = lambda: replies.pop(0)
    assert main(["products", "import", str(file), "--json"]) == 1
    printed = capsys.readouterr()
    lines = json.loads(printed.out)["items"]
    assert [(each["line"], each["product_id"]) for each in lines] == [(2, "prod_1")]
    assert "line 3" in printed.err


def test_a_file_that_is_no_csv_is_explained(
    api: Api, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "products.csv"
    file.write_text(f"title,description,price\nLoom,{'x' * 140_000},1999\n")
    assert main(["products", "import", str(file)]) == 1
    assert "isn't CSV" in capsys.readouterr().err
    assert api.server.requests == []


def test_a_price_is_shown_to_the_cent(api: Api, capsys: pytest.CaptureFixture[str]) -> None:
    row = sample(m.ProductView, product_id="prd_1", price=123_456_780)
    api.routes["GET", "/api/products"] = {"items": [row], "next_cursor": None, "has_more": False}
    assert main(["products", "list"]) == 0
    assert "1234567.80" in capsys.readouterr().out.split("\t")


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
    assert main(words) == 1  # there is no terminal to confirm on
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
