"""OAuth connections of sellers: consent, token refresh, disconnection."""

import base64
import hashlib
import hmac
import json
from collections.abc import Callable
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest

from spinneret.jobs.worker import Defer
from spinneret.kernel.errors import AuthRequired, Conflict, NotFound, ReauthNeeded
from spinneret.marketplace.connections.models import ConnectionStatus
from spinneret.marketplace.connections.secrets import ConfiguredSecrets
from spinneret.marketplace.reports import ReportService
from tests.markets.etsy import KEYS, SHOP
from tests.markets.web import StubResponse
from tests.markets.world import MarketWorld


def _agree(world: MarketWorld, marketplace: str) -> dict[str, str]:
    url = world.connecting.begin(world.tenant, marketplace)
    return {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}


def test_a_seller_connects_by_state_and_code_challenge(world: MarketWorld) -> None:
    query = _agree(world, "etsy")
    assert query["redirect_uri"] == KEYS["redirect_uri"]
    connection = world.connecting.finish("etsy", query["state"], "code-1")
    assert connection.tenant == world.tenant
    verifier = world.etsy.verifiers["code-1"]
    digest = hashlib.sha256(verifier.encode()).digest()
    assert query["code_challenge"] == base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
    assert query["code_challenge_method"] == "S256"
    assert world.done("publish", "etsy", world.product()).status == "completed"


# covers T-05
def test_a_stage_without_a_client_says_where_its_operator_enters_one() -> None:
    with pytest.raises(Conflict) as refusal:
        ConfiguredSecrets(read=dict).client("ebay")
    [field] = refusal.value.details["fields"]
    assert "MarketplaceSecret" in field["hint"]


def test_tokens_are_stored_sealed_for_their_tenant_and_use(world: MarketWorld) -> None:
    query = _agree(world, "ebay")
    connection = world.connecting.finish("ebay", query["state"], "code-1")
    [token] = world.ebay.tokens
    assert all(token.encode() not in part for part in connection.sealed_access)
    assert "code_challenge" not in query


@pytest.mark.parametrize("wrong", ["twice", "late", "other marketplace", "other tenant", "made up"])
def test_a_state_that_isnt_the_sellers_own_connects_nobody(wrong: str, world: MarketWorld) -> None:
    state, marketplace = _agree(world, "etsy")["state"], "etsy"
    match wrong:
        case "twice":
            world.connecting.finish("etsy", state, "code-1")
        case "late":
            world.clock.advance(600)
        case "other marketplace":
            marketplace = "ebay"
        case "other tenant":
            state = f"mallory.{state.rpartition('.')[2]}"
        case _:
            state = f"{world.tenant}.made-up"
    with pytest.raises(AuthRequired):
        world.connecting.finish(marketplace, state, "code-2")


# covers T-05
def test_a_token_is_refreshed_before_it_ends_and_a_new_refresh_token_is_kept(
    world: MarketWorld,
) -> None:
    world.connect("etsy", seconds=299)
    first = world.tokens.access(world.tenant, "etsy")
    assert first.token in world.etsy.tokens
    world.clock.advance(3400)
    second = world.tokens.access(world.tenant, "etsy")
    assert second.token != first.token


@pytest.mark.parametrize("renewed", [None, ""])
def test_a_refresh_token_that_isnt_renewed_is_kept(renewed: str | None, world: MarketWorld) -> None:
    world.connect("ebay", seconds=10)
    standing = world.connecting.get(world.tenant, "ebay")
    world.web.around = lambda _, __: StubResponse(
        200, {"access_token": "access-1", "refresh_token": renewed, "expires_in": 7200}
    )
    assert world.tokens.access(world.tenant, "ebay").token == "access-1"
    after = world.connecting.get(world.tenant, "ebay")
    assert after.sealed_refresh == standing.sealed_refresh


def test_one_caller_refreshes_and_the_others_wait(world: MarketWorld) -> None:
    world.connect("etsy", seconds=10)
    standing = world.connections.get(world.tenant, "etsy")
    assert standing is not None
    original = world.web.around
    found = []

    def around(name: str, serve: object) -> object:
        with pytest.raises(Defer):
            world.tokens.access(world.tenant, "etsy")
        found.append(name)
        return original(name, serve)  # type: ignore[arg-type]

    world.web.around = around  # type: ignore[assignment]
    world.tokens.access(world.tenant, "etsy")
    assert len(found) == 1
    assert world.etsy.calls["_token"] == 1


def test_a_refused_token_is_refreshed_once_in_the_middle_of_a_job(world: MarketWorld) -> None:
    world.ebay.tokens = {"another"}
    assert world.done("publish", "ebay", world.product()).status == "completed"
    assert world.ebay.grants["refresh_token"] == 1


def test_what_is_public_is_asked_with_the_applications_own_token(world: MarketWorld) -> None:
    world.done("publish", "ebay", world.product("One"))
    world.done("publish", "ebay", world.product("Two"))
    assert world.ebay.grants == {"client_credentials": 1}
    world.clock.advance(7000)  # the token expires in 200 s
    world.done("publish", "ebay", world.product("Three"))
    assert world.ebay.grants["client_credentials"] == 2
    assert len(world.ebay.listings) == 3


def test_an_application_token_that_is_refused_is_asked_for_once_more(world: MarketWorld) -> None:
    world.done("publish", "ebay", world.product("One"))
    world.ebay.application.clear()
    assert world.done("publish", "ebay", world.product("Two")).status == "completed"
    assert world.ebay.grants["client_credentials"] == 2


def test_an_application_that_gets_no_token_is_no_fault_of_the_seller(world: MarketWorld) -> None:
    def around(name: str, serve: Callable[[], StubResponse]) -> StubResponse:
        if not name.endswith("/token"):
            return serve()
        return StubResponse(400, {"error": "invalid_scope"})

    world.web.around = around
    job = world.done("publish", "ebay", world.product())
    assert job.last_error is not None
    assert job.last_error.code == "MAX_RETRIES_EXCEEDED"
    assert "issued no application token" in job.last_error.message
    assert world.connecting.get(world.tenant, "ebay").status is ConnectionStatus.ACTIVE


def test_a_leave_that_was_withdrawn_needs_the_seller(world: MarketWorld) -> None:
    world.ebay.tokens, world.ebay.revoked = set(), True
    job = world.done("publish", "ebay", world.product())
    assert job.last_error is not None
    assert job.last_error.code == "NEEDS_REAUTH"
    [task] = [each for each in world.tasks.of_job(world.tenant, job.id) if each.error_message]
    assert task.reason == "needs_reauth"
    connection = world.connecting.get(world.tenant, "ebay")
    assert connection.status is ConnectionStatus.NEEDS_REAUTH
    with pytest.raises(ReauthNeeded):
        world.tokens.access(world.tenant, "ebay")


def test_disconnecting_revokes_and_forgets(world: MarketWorld) -> None:
    world.connecting.end(world.tenant, "ebay")
    assert world.ebay.revoked
    with pytest.raises(NotFound):
        world.connecting.get(world.tenant, "ebay")


def test_tokens_that_cant_be_read_any_more_are_deleted_all_the_same(world: MarketWorld) -> None:
    standing = world.connecting.get(world.tenant, "ebay")
    world.connections.put(replace(standing, sealed_refresh=standing.sealed_access))
    assert not world.connecting.end(world.tenant, "ebay")
    with pytest.raises(NotFound):
        world.connecting.get(world.tenant, "ebay")


def _signed(body: str, at: int, secret: str = KEYS["webhook_secret"]) -> dict[str, str]:
    key = base64.b64decode(secret.removeprefix("whsec_"))
    digest = hmac.new(key, f"wh_1.{at}.{body}".encode(), hashlib.sha256).digest()
    return {
        "Webhook-Id": "wh_1",
        "Webhook-Timestamp": str(at),
        "Webhook-Signature": f"v1,bm8= v1,{base64.b64encode(digest).decode()}",
    }


def _report(world: MarketWorld, headers: dict[str, str], body: str) -> None:
    reports = ReportService(
        connections=world.connecting,
        secrets=world.secrets,
        jobs=world.seller_jobs,
        clock=world.clock,
    )
    reports.receive("etsy", headers, body)


def test_a_webhook_has_the_sellers_orders_read(world: MarketWorld) -> None:
    world.done("publish", "etsy", world.product())  # the connection now has its shop id
    body = json.dumps({"event_type": "order.paid", "shop_id": int(SHOP)})
    headers = _signed(body, int(world.clock().timestamp()))
    _report(world, headers, body)
    world.deliver()
    _report(world, headers, body)  # a replay
    jobs = world.publishing.page(world.tenant, "etsy", None, None, None, 10).items
    assert [each.job.payload["action_code"] for each in jobs] == ["orders", "publish"]


@pytest.mark.parametrize(
    "wrong", ["signature", "no base64", "old", "beyond numbers", "nothing", "another body"]
)
def test_a_webhook_that_isnt_signed_just_now_is_refused(wrong: str, world: MarketWorld) -> None:
    body, at = json.dumps({"shop_id": int(SHOP)}), int(world.clock().timestamp())
    headers = _signed(body, at)
    match wrong:
        case "signature":
            headers = _signed(body, at, "whsec_AAAA")
        case "no base64":
            headers["Webhook-Signature"] = "v1,\u00e9"
        case "old":
            headers = _signed(body, at - 301)
        case "beyond numbers":
            headers["Webhook-Timestamp"] = "9" * 5000
        case "nothing":
            headers = {}
        case _:
            body = "{}"
    with pytest.raises(AuthRequired):
        _report(world, headers, body)
