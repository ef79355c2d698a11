"""A fake API for the command `spinneret`."""

from typing import Any

import httpx
import pytest

from spinneret_client.cli import tools
from spinneret_client.generated import models as m
from tests.unit.client.conftest import SUBMISSION, Server, event, refusal, sse, stream
from tests.unit.client.samples import audit, crawl, found, hit, sample

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
    """A fake API with a reply for each route; its streams have two events and end."""

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
    """Provide a fake API to which the command sends its requests; the command never sleeps."""
    monkeypatch.setattr(tools, "Spinneret", lambda url, profile: server.client())
    monkeypatch.setattr("spinneret_client.links.PAUSE", 0)
    monkeypatch.setattr("time.sleep", server.slept.append)
    return Api(server)
