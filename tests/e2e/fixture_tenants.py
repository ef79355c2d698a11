"""Tenants with objects of every kind, and the credentials that requests carry."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import uuid4

from tests.e2e.conftest import Deployed, Tenant
from tests.e2e.operations import OPERATIONS, Operation
from tests.e2e.website import Website
from tests.waiting import waited

SCOPES: Final = ("read", "write", "admin")  # each includes the previous ones
KEYS: Final = "/api/v1/api-keys"
RATE: Final = 6000
SIGNED: Final = frozenset({"receive_webhook"})
"""Operations whose credential is a signature over their body."""
TOKENED: Final = frozenset({"refresh_session", "sign_out"})
"""Operations whose credential is a refresh token in their body or cookie."""


@dataclass(frozen=True)
class Credential:
    """Headers or ticket of a request, and the highest scope that they grant."""

    headers: Mapping[str, str]
    scope: str | None = None
    ticket: str | None = None
    permissions: frozenset[str] | None = None
    """Permissions of a person, or of a narrowed key; None for all."""

    def admits(self, operation: Operation) -> str:
        """Return the result that the document promises: `passes`, `401` or `403`."""
        if operation.id in SIGNED | TOKENED:  # they refuse the unknown `ticket` first
            return "passes" if self.ticket else "401"
        if operation.scope is None:
            return "passes"
        if self.scope is None or (self.ticket and not operation.ticket):
            return "401"
        enough = SCOPES.index(self.scope) >= SCOPES.index(operation.scope)
        granted = self.permissions is None or operation.permission in self.permissions
        return "passes" if enough and granted else "403"


@dataclass(frozen=True)
class FixtureTenant:
    """A tenant, and the ids of two objects of each kind."""

    owner: Tenant
    objects: Mapping[str, str]
    spares: Mapping[str, str]

    @classmethod
    @contextmanager
    def of(cls, deployed: Deployed, website: Website) -> Iterator[FixtureTenant]:
        """Yield a tenant that has objects for all path parameters of the document."""
        owner = deployed.tenant(scope="admin")
        needed = {name for each in OPERATIONS for name in each.parameters}
        sets: tuple[dict[str, str], dict[str, str]] = ({}, {})
        for made in sets:
            for name in (each for each in MAKERS if each in needed):
                made[name] = created(name, deployed, owner, website, made)
            for name in sorted(needed - set(MAKERS)):
                made[name] = _by_example(owner, name)
        yield cls(owner, *sets)
        owner.close()


def created(
    name: str, deployed: Deployed, owner: Tenant, website: Website, made: Mapping[str, str]
) -> str:
    """Create an object of the tenant by its maker; return the value of the parameter `name`."""
    with deployed.audited_host() if name == "audit_id" else nullcontext():
        return MAKERS[name](owner, website, made)


def body_for(operation: Operation) -> Any:
    """Return a body that the operation takes; None if it takes none."""
    if not operation.takes_body:
        return None
    return BODIES.get(operation.id, operation.example)


def issued_key(owner: Tenant, scope: str, **given: Any) -> dict[str, Any]:
    """Create a key of the owner's tenant; return it with its secret."""
    wanted = {"name": "matrix", "scopes": [scope], "rate_limit_rpm": RATE, **given}
    answer = owner("POST", KEYS, wanted)
    assert answer.status_code == 201, answer.text
    issued: dict[str, Any] = answer.json()
    return issued


def expired_key(owner: Tenant) -> str:
    """Create a key that is valid for a second; return it when it has expired."""
    end = datetime.now(UTC) + timedelta(seconds=1)
    secret = str(issued_key(owner, "admin", expires_at=end.isoformat())["secret"])
    waited(lambda: owner("GET", KEYS, X_API_Key=secret).status_code == 401, seconds=30)
    return secret


def signed_in(owner: Tenant, role: str) -> dict[str, Any]:
    """Add a person to the owner's tenant, and sign the person in; return the tokens."""
    email, password = f"{uuid4().hex}@example.com", "a password of some length"
    wanted = {"name": role, "email": email, "role": role}
    invitation = owner("POST", "/api/v1/users", wanted).json()["invitation"]
    chosen = {"invitation": invitation, "password": password}
    assert owner("POST", "/api/v1/auth/accept", chosen).status_code == 200
    credentials = {"tenant": owner.name, "email": email, "password": password}
    answer = owner("POST", "/api/v1/auth/login", credentials)
    assert answer.status_code == 200, answer.text
    tokens: dict[str, Any] = answer.json()
    return tokens


def _by_example(owner: Tenant, parameter: str) -> str:
    """Create an object by the documented example whose response has the parameter; return its
    value.
    """
    for each in OPERATIONS:
        if each.method == "POST" and not each.parameters and parameter in each.answer:
            named = {"name": uuid4().hex} if "name" in each.example else {}
            answer = owner("POST", each.path, {**each.example, **named})
            assert answer.status_code == 201, answer.text
            return str(answer.json()[parameter])
    raise AssertionError(f"nothing makes a {parameter}: add it to MAKERS")


Made = Mapping[str, str]
"""Values that the tenant already has, by parameter; a maker may use values of earlier MAKERS."""


def _job(owner: Tenant, website: Website, made: Made) -> str:
    job_id = owner.crawl(f"{website.url}/page?text=matrix+{uuid4().hex}")
    owner.finished(job_id)
    return job_id


def _document(owner: Tenant, website: Website, made: Made) -> str:
    return str(owner.job(made["job_id"])["document_id"])


def _key(owner: Tenant, website: Website, made: Made) -> str:
    return str(issued_key(owner, "read")["key_id"])


def _user(owner: Tenant, website: Website, made: Made) -> str:
    wanted = {"name": "Maya", "email": f"{uuid4().hex}@example.com", "role": "viewer"}
    answer = owner("POST", "/api/v1/users", wanted)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["user_id"])


def _domain(owner: Tenant, website: Website, made: Made) -> str:
    name = f"d{uuid4().hex}.example.com"
    assert owner("PUT", f"/api/v1/domains/{name}", {"notes": "ours"}).status_code == 200
    return name


def _proxy(owner: Tenant, website: Website, made: Made) -> str:
    wanted = {"name": uuid4().hex, "servers": [{"url": "http://proxy.example.com:3128"}]}
    answer = owner("POST", "/api/v1/proxies", wanted)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["proxy_id"])


def _endpoint(owner: Tenant, website: Website, made: Made) -> str:
    wanted = {"name": uuid4().hex, "url": f"{website.url}/page?text=hook"}
    answer = owner("POST", "/api/v1/webhooks", wanted)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["endpoint_id"])


def _delivery(owner: Tenant, website: Website, made: Made) -> str:
    answer = owner("POST", f"/api/v1/webhooks/{made['endpoint_id']}/test")
    assert answer.status_code == 202, answer.text
    return str(answer.json()["delivery_id"])


def _source(owner: Tenant, website: Website, made: Made) -> str:
    wanted = {"name": uuid4().hex, "url_pattern": f"{website.url}/page?text=source"}
    answer = owner("POST", "/api/v1/sources", wanted)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["source_id"])


def _run(owner: Tenant, website: Website, made: Made) -> str:
    path = f"/api/v1/sources/{made['source_id']}"
    run_id = str(owner("POST", f"{path}/trigger").json()["run_id"])
    owner.ended(f"{path}/runs/{run_id}", 60)
    return run_id


def _audit(owner: Tenant, website: Website, made: Made) -> str:
    """Run an audit to its end, because a host allows only one at a time."""
    wanted = {"url": f"{website.url}/page?text=audited", "recipe": "hello", "mode": "debug"}
    answer = owner("POST", "/audits", wanted)
    assert answer.status_code == 202, answer.text
    audit_id = str(answer.json()["audit_id"])
    owner.audited(audit_id)
    return audit_id


def _target(owner: Tenant, website: Website, made: Made) -> str:
    wanted = {"url": f"{website.url}/page?text={uuid4().hex}", "interval_seconds": 3600}
    answer = owner("POST", "/v1/targets", wanted)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def _window(owner: Tenant, website: Website, made: Made) -> str:
    wanted = {"name": "ours", "starts_at": "2026-01-04T02:30", "duration_minutes": 90}
    answer = owner("POST", "/v1/maintenance-windows", wanted)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def _slug(owner: Tenant, website: Website, made: Made) -> str:
    slug = f"s{uuid4().hex}"
    answer = owner("POST", "/v1/status-pages", {"slug": slug, "title": "ours"})
    assert answer.status_code == 201, answer.text
    return slug


def _notice(owner: Tenant, website: Website, made: Made) -> str:
    wanted = {"kind": "incident", "title": "ours", "text": "ours"}
    answer = owner("POST", "/v1/status-notices", wanted)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def _product(owner: Tenant, website: Website, made: Made) -> str:
    wanted = {"title": uuid4().hex, "description": "ours", "price": 100}
    answer = owner("POST", "/api/products", wanted)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["product_id"])


def _marketplace_job(owner: Tenant, website: Website, made: Made) -> str:
    wanted = {"marketplace": "ebay", "action_code": "sync", "product_id": made["product_id"]}
    answer = owner("POST", "/api/marketplace/jobs", wanted)
    assert answer.status_code == 201, answer.text
    job_id = str(answer.json()["job_id"])
    _until_terminal(owner, f"/api/marketplace/jobs/{job_id}")
    return job_id


def _task(owner: Tenant, website: Website, made: Made) -> str:
    job = owner("GET", f"/api/marketplace/jobs/{made['marketplace_job_id']}").json()
    return str(job["tasks"][0]["task_id"])


def _batch(owner: Tenant, website: Website, made: Made) -> str:
    wanted = {"marketplace": "ebay", "action_code": "sync", "product_ids": [made["product_id"]]}
    answer = owner("POST", "/api/batch-jobs", wanted)
    assert answer.status_code == 201, answer.text
    batch_id = str(answer.json()["batch_id"])
    _until_terminal(owner, f"/api/batch-jobs/{batch_id}")
    return batch_id


def _until_terminal(owner: Tenant, path: str) -> None:
    """Wait until the job has ended; without a connection it fails soon."""
    waited(
        lambda: owner.read(path),
        lambda seen: seen["status"] not in ("pending", "running"),
        seconds=60,
    )


def _console_part(group: int) -> Callable[[Tenant, Website, Made], str]:
    """Return a maker of one part of a file's address, as the console's page names it."""

    def part(owner: Tenant, website: Website, made: Made) -> str:
        page = owner("GET", "/console/index.html").text
        named = re.search(r'href="(\w+)/(\w+)/([\w.]+)"', page)
        assert named, page
        return str(named[group])

    return part


MAKERS: Final[Mapping[str, Callable[[Tenant, Website, Made], str]]] = {
    "job_id": _job,
    "document_id": _document,
    "audit_id": _audit,
    "key_id": _key,
    "user_id": _user,
    "domain": _domain,
    "proxy_id": _proxy,
    "endpoint_id": _endpoint,
    "delivery_id": _delivery,
    "source_id": _source,
    "run_id": _run,
    "target_id": _target,
    "window_id": _window,
    "slug": _slug,
    "notice_id": _notice,
    "product_id": _product,
    "marketplace_job_id": _marketplace_job,
    "task_id": _task,
    "batch_id": _batch,
    "version": _console_part(1),
    "folder": _console_part(2),
    "file_name": _console_part(3),
}
PUBLIC: Final = frozenset({"slug", "version", "folder", "file_name"})
"""Parameters whose objects are public."""
BODIES: Final[Mapping[str, Any]] = {
    "put_domain": {"notes": "theirs"},
    "block_domain": {"reason": "theirs"},
    "replace_proxy": {"name": "theirs", "servers": [{"url": "http://proxy.example.com:3128"}]},
    "replace_webhook": {"name": "theirs", "url": "https://example.com/hook"},
}
"""Accepted bodies of operations with an id whose example wouldn't be accepted."""
