"""Secrets that strangers plant wherever they can are found nowhere (P-11)."""

import json
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from tests.conftest import Aws, Stack
from tests.e2e.conftest import Deployed, Tenant
from tests.e2e.website import Website
from tests.waiting import waited

pytestmark = [pytest.mark.stack, pytest.mark.timeout(240)]

CRAWL, JOBS = "/api/v1/crawl", "/api/v1/jobs"
STATUSES = (200, 401, 402, 403, 404, 405, 406, 409, 410, 418, 451, 500)


class Canaries:
    """Make secrets that don't look like secrets, so only their place can reveal them."""

    def __init__(self) -> None:
        self.sung: dict[str, str] = {}

    def sing(self, where: str) -> str:
        secret = f"zq{uuid4().hex[:10]}vx"
        self.sung[secret] = where
        return secret

    def watch(self, where: str, secret: str) -> str:
        """Also search for the product's secret, by the part that isn't an id; return the secret."""
        self.sung[secret.rpartition(".")[2]] = where
        return secret

    def heard_in(self, text: str) -> list[str]:
        return sorted({where for secret, where in self.sung.items() if secret in text})


@pytest.fixture
def canaries() -> Canaries:
    return Canaries()


# covers P-11
@pytest.mark.alone
def test_no_planted_secret_is_found_in_any_item_object_message_or_log(
    canaries: Canaries,
    tenant: Tenant,
    website: Website,
    deployed: Deployed,
    aws: Aws,
    stack: Stack,
) -> None:
    _in_requests(canaries, tenant, deployed)
    _in_handshakes(canaries, deployed)
    _in_accounts(canaries, deployed)
    jobs = _in_answers(canaries, tenant, website)
    _in_what_is_entrusted(canaries, tenant, website)
    _in_variables_and_providers(canaries, tenant, website, deployed, aws)
    assert len(canaries.sung) >= 70
    for job_id in jobs[1:]:
        tenant.wait(job_id, lambda job: job["error"] is not None, 60)
    assert tenant.finished(jobs[0])["status"] == "completed"
    found = {
        place: heard
        for place, text in _everything(tenant, jobs, aws, deployed, stack)
        if (heard := canaries.heard_in(text))
    }
    assert found == {}


def _in_requests(canaries: Canaries, tenant: Tenant, deployed: Deployed) -> None:
    sing = canaries.sing
    with httpx.Client(base_url=deployed.api_url, trust_env=False, timeout=40) as http:
        for scheme in ("Bearer", "Basic", "Token", "Digest"):
            http.get(JOBS, headers={"Authorization": f"{scheme} {sing(scheme)}"})
        for header in ("X-API-Key", "Cookie", "Proxy-Authorization", "X-Auth-Token"):
            http.get(JOBS, headers={header: sing(header)})
        for name in ("ticket", "api_key", "access_token", "password"):
            http.get(f"{JOBS}/job_1/stream", params={name: sing(f"query {name}")})
    headers = {"Cookie": f"session={sing('cookie of a caller')}"}
    for name in ("password", "token", "api_key", "client_secret", "Authorization"):
        bodies: tuple[Any, ...] = (
            {"url": "https://example.com/", name: sing(f"unknown field {name}")},
            {"url": f"https://user:{sing(f'userinfo {name}')}@example.com/"},
            {"url": {name: sing(f"object {name}")}},
            {"urls": [f"ftp://x/?{name}={sing(f'scheme {name}')}"]},
        )
        for body in bodies:
            assert tenant("POST", CRAWL, body, **headers).status_code in {400, 422}
    raw = {"X-API-Key": tenant.key, "Content-Type": "application/json"}
    text = f'{{"password": "{sing("broken JSON")}", '
    httpx.post(deployed.api_url + CRAWL, content=text, headers=raw, trust_env=False, timeout=40)
    tenant("GET", f"{JOBS}?cursor={sing('cursor')}")
    tenant("GET", f"{JOBS}?status={sing('status')}")


def _in_handshakes(canaries: Canaries, deployed: Deployed) -> None:
    address = deployed.outputs["WebSocketUrl"].replace("http://", "ws://")
    with suppress(InvalidStatus), connect(f"{address}?ticket={canaries.sing('ticket')}"):
        raise AssertionError("it was let in")
    key = {"X-API-Key": canaries.sing("key of a handshake")}
    with suppress(InvalidStatus), connect(address, additional_headers=key):
        raise AssertionError("it was let in")


def _in_accounts(canaries: Canaries, deployed: Deployed) -> None:
    """Send passwords and tokens of a person, in their places and in wrong ones."""
    owner, email = deployed.tenant("admin"), f"{uuid4().hex}@example.com"
    invited = owner("POST", "/api/v1/users", {"email": email, "name": "x", "role": "viewer"})
    invitation = canaries.watch("invitation", invited.json()["invitation"])
    first, second = (f"{canaries.sing(f'{each} password')} of a person" for each in ("one", "two"))
    credentials = {"tenant": owner.name, "email": email}
    sing, auth = canaries.sing, "/api/v1/auth"
    with httpx.Client(base_url=deployed.api_url, trust_env=False, timeout=40) as http:

        def ask(path: str, body: Any, status: int, token: str | None = None) -> Any:
            headers = {"Authorization": f"Bearer {token}"} if token else {}
            answer = http.post(f"{auth}/{path}", json=body, headers=headers)
            assert answer.status_code == status, answer.text
            return answer.json()

        ask("accept", {"invitation": invitation, "password": sing("a short password")}, 422)
        ask("accept", {"invitation": sing("a wrong invitation"), "password": first}, 401)
        ask("accept", {"invitation": invitation, "password": first}, 200)
        ask("login", {**credentials, "password": sing("a wrong password")}, 401)
        ask("login", {**credentials, "password": {"x": sing("a password as an object")}}, 422)
        tokens = ask("login", {**credentials, "password": first}, 200)
        access = canaries.watch("access token", tokens["access_token"])
        refresh = canaries.watch("refresh token", tokens["refresh_token"])
        http.get(f"{auth}/me", headers={"Authorization": f"Bearer {access}x"})
        http.get(f"{auth}/me", headers={"Authorization": f"Bearer {refresh}"})
        ask("refresh", {"refresh_token": access}, 401)
        next_one = ask("refresh", {"refresh_token": refresh}, 200)["refresh_token"]
        canaries.watch("second refresh token", next_one)
        ask("logout", {"refresh_token": f"{next_one}x"}, 401)
        changed = {"current_password": first, "new_password": second}
        ask("password", {**changed, "current_password": f"{first}x"}, 403, access)
        ask("password", changed, 200, access)
        ask("refresh", {"refresh_token": next_one}, 401)
    owner.close()


def _in_answers(canaries: Canaries, tenant: Tenant, website: Website) -> list[str]:
    """Crawl pages whose responses contain secrets; the URL itself is the tenant's own data."""
    jobs = []
    for code in STATUSES:
        website.secrets[str(code)] = canaries.sing(f"answer {code}")
        jobs.append(tenant.crawl(f"{website.url}/chatty?code={code}"))
    for name in ("userinfo", "query"):
        website.secrets[name] = canaries.sing(f"redirect {name}")
        jobs.append(tenant.crawl(f"{website.url}/leak?in={name}"))
    return jobs


def _in_what_is_entrusted(canaries: Canaries, tenant: Tenant, website: Website) -> None:
    """Plant secrets in proxies' credentials, webhooks' headers and the responses of receivers."""
    server = {
        "url": website.url,
        "username": canaries.sing("name at a proxy"),
        "password": canaries.sing("password at a proxy"),
    }
    made = tenant("POST", "/api/v1/proxies", {"name": uuid4().hex, "servers": [server]}).json()
    tenant("POST", "/api/v1/proxies/test", {"proxy_id": made["proxy_id"], "url": website.url})
    name = uuid4().hex
    website.secrets[name] = canaries.sing("answer of a webhook's receiver")
    website.statuses[name] = [401, 500]
    headers = {"Authorization": f"Bearer {canaries.sing('header of a webhook')}"}
    hook = {"name": name, "url": f"{website.url}/hook?name={name}", "headers": headers}
    endpoint = tenant("POST", "/api/v1/webhooks", hook).json()["endpoint_id"]
    for times in (1, 2):
        answer = tenant("POST", f"/api/v1/webhooks/{endpoint}/test")
        assert answer.status_code == 202, answer.text
        waited(lambda times=times: len(website.hooks[name]) >= times, seconds=60)
    log = tenant("GET", f"/api/v1/webhooks/{endpoint}/deliveries").text
    assert canaries.heard_in(log) == []


def _in_variables_and_providers(
    canaries: Canaries, tenant: Tenant, website: Website, deployed: Deployed, aws: Aws
) -> None:
    """Give the search variables with secrets, and providers that reveal them, for a while."""
    functions, name = aws("lambda"), deployed.resources["SearchApi"]
    before = functions.get_function_configuration(FunctionName=name)["Environment"]["Variables"]
    website.secrets["provider"] = canaries.sing("error of a provider")
    address = website.url.replace("http://", f"http://spider:{canaries.sing('variable')}@")
    for variable in ("EMBEDDER_URL", "OPENSEARCH_URL"):
        changed = {**before, variable: f"{address}/provider", "PASSWORD": canaries.sing(variable)}
        functions.update_function_configuration(
            FunctionName=name, Environment={"Variables": changed}
        )
        _searched(tenant, (500, 502, 503))
    functions.update_function_configuration(FunctionName=name, Environment={"Variables": before})
    _searched(tenant, (200,))


def _searched(tenant: Tenant, statuses: tuple[int, ...]) -> None:
    """Wait until a search has one of the statuses, because running environments keep variables."""
    waited(
        lambda: tenant("POST", "/api/v1/search", {"query": "silk"}).status_code in statuses,
        seconds=60,
    )


def _everything(
    tenant: Tenant, jobs: list[str], aws: Aws, deployed: Deployed, stack: Stack
) -> Iterator[tuple[str, str]]:
    for job_id in jobs:
        yield f"job {job_id}", tenant("GET", f"{JOBS}/{job_id}").text
        yield f"timeline {job_id}", tenant("GET", f"{JOBS}/{job_id}/timeline?limit=100").text
    dynamodb = aws.dynamodb()
    for name in (name for name in deployed.outputs if name.endswith("Table")):
        for page in dynamodb.get_paginator("scan").paginate(TableName=deployed.outputs[name]):
            yield name, str(page["Items"])
    s3 = aws("s3")
    bucket = deployed.outputs["ContentBucket"]
    for page in s3.get_paginator("list_objects_v2").paginate(Bucket=bucket):
        for item in page.get("Contents", []):
            answer = s3.get_object(Bucket=bucket, Key=item["Key"])
            body = answer["Body"].read().decode("utf-8", "replace")
            yield item["Key"], f"{body} {answer['Metadata']}"
    sqs = aws("sqs")
    for url in sqs.list_queues().get("QueueUrls", []):
        answer = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10, VisibilityTimeout=0)
        yield url, json.dumps([each["Body"] for each in answer.get("Messages", [])])
    _logs_have_settled(stack.folder / "logs")
    for file in sorted((stack.folder / "logs").glob("*.log")):
        yield file.name, file.read_text("utf-8", "replace")
    logs = aws("logs")
    for group in logs.describe_log_groups()["logGroups"]:
        events = logs.filter_log_events(logGroupName=group["logGroupName"])["events"]
        yield group["logGroupName"], "\n".join(event["message"] for event in events)


def _logs_have_settled(folder: Path) -> None:
    """Wait until no log grows: functions write theirs a moment after their response."""
    deadline = time.monotonic() + 10
    sizes: list[int] = []
    while time.monotonic() < deadline:
        now = [file.stat().st_size for file in sorted(folder.glob("*.log"))]
        if now == sizes:
            return
        sizes = now
        time.sleep(0.5)
