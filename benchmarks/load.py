"""Measure requests of many simultaneous users: latencies, errors, and processor time by part.

    .venv/bin/python benchmarks/load.py --instance dev [--users 50] [--minutes 5]

The instance must be running and deployed, with settings that allow faster crawls of its website
than of other websites: `make set RateLimitDefaultRps=50 DomainBurst=50`. Locust runs the users of
benchmarks/load_users.py in an environment of its own (infra/local/requirements/load.txt). If a
response has another status than 2xx or 429, the exit code is 1.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any, Final

import boto3
import httpx

ROOT: Final = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "infra" / "local"), str(ROOT / "layers" / "common")]

from spinneret.access.keys.api_models import KeyRequest
from spinneret.access.keys.bootstrap import issue
from spinneret.access.keys.models import Scope
from spinneret.kernel import bounds
from stack.instance import Instance
from stack.workspace import Workspace
from tests.site.server import page_paths

TENANTS: Final = 5
REQUIREMENTS: Final = ROOT / "infra" / "local" / "requirements" / "load.txt"
PARTS: Final = {
    "functions": "runtime_entry.py",
    "OpenSearch": "LocalNode",
    "DynamoDB Local": "DynamoDBLocal",
    "LocalStack": "localstack.runtime.main",
    "embedder": "spinneret_embedder_server",
    "Locust": "locust",
}
"""Text in the command line of each part's processes."""
CRAWL_SECONDS: Final = 240.0


def main() -> int:
    """Prepare tenants, run Locust, print the processor time; return Locust's exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--instance", default="dev")
    parser.add_argument("--users", type=int, default=50)
    parser.add_argument("--minutes", type=float, default=5.0)
    chosen = parser.parse_args()
    instance = Instance.named(chosen.instance, Workspace.from_environment(os.environ))
    endpoints = json.loads(instance.endpoints_file.read_text())
    outputs = json.loads((instance.folder / "deployment.json").read_text())["outputs"]
    api = f"{endpoints['gateway']}/_aws/execute-api/{outputs['ApiId']}/local"
    site = endpoints["website"].rstrip("/")
    keys = [_key(endpoints["dynamodb"], outputs["TenancyTable"], n) for n in range(TENANTS)]
    for key in keys:
        _fill(api, key, site)
    before, began = _processor_seconds(), time.monotonic()
    done = subprocess.run(
        [
            *(str(_locust()), "--headless", "--only-summary"),
            *("--locustfile", str(ROOT / "benchmarks" / "load_users.py")),
            *("--host", api, "--users", str(chosen.users), "--spawn-rate", "1"),
            *("--run-time", f"{chosen.minutes * 60:.0f}s"),
        ],
        env={**os.environ, "LOAD": json.dumps({"keys": keys, "site": site, "paths": page_paths()})},
        check=False,
    )
    seconds = time.monotonic() - began
    print("\n| part | processors used |\n|---|---|")
    for part, spent in (_processor_seconds() - before).most_common():
        print(f"| {part} | {spent / seconds:.2f} of {os.cpu_count()} |")
    print(f"\nload average {os.getloadavg()[1]:.1f} over five minutes")
    return done.returncode


def _key(dynamodb_url: str, table: str, number: int) -> str:
    made: Any = boto3.resource(
        "dynamodb",
        endpoint_url=dynamodb_url,
        region_name="us-east-1",
        aws_access_key_id="000000000000",
        aws_secret_access_key="local",
    )
    request = KeyRequest(
        name="load",
        scopes=frozenset({Scope.WRITE}),
        rate_limit_rpm=bounds.KEY_REQUESTS_PER_MINUTE_MAX,
    )
    return issue(made.meta.client, table, f"load-{number}", request)


def _fill(api: str, key: str, site: str) -> None:
    """Crawl the whole demonstration website, so that searches find something."""
    headers = {"X-API-Key": key}
    with httpx.Client(base_url=api, headers=headers, timeout=40, trust_env=False) as client:
        urls = [site + path for path in page_paths()]
        batch = client.post("/api/v1/crawl/batch", json={"urls": urls}).raise_for_status().json()
        until = time.monotonic() + CRAWL_SECONDS
        while True:
            job = client.get(f"/api/v1/crawl/{batch['batch_id']}").raise_for_status().json()
            if job["finished_at"] is not None:
                return
            if time.monotonic() > until:
                raise SystemExit(f"the website wasn't crawled within {CRAWL_SECONDS:.0f} s: {job}")
            time.sleep(1)


def _locust() -> Path:
    """Return the path of Locust in its own environment.

    The environment is created if it is missing or outdated.
    """
    folder = ROOT / ".local" / "load"
    if not (folder / "made").exists() or (folder / "made").read_text() != REQUIREMENTS.read_text():
        uv = ROOT / ".venv" / "bin" / "uv"
        python = folder / "bin" / "python"
        subprocess.run(
            [uv, "venv", "--quiet", "--clear", "--python", sys.executable, folder], check=True
        )
        sync = ("pip", "sync", "--quiet", "--require-hashes", "--python", python, REQUIREMENTS)
        subprocess.run([uv, *sync], check=True)
        (folder / "made").write_text(REQUIREMENTS.read_text())
    return folder / "bin" / "locust"


def _processor_seconds() -> Counter[str]:
    """Return the processor seconds of all running processes by part.

    They include the ended children for which a process has waited.
    """
    found: Counter[str] = Counter()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().decode(errors="replace")
            ticks = (process / "stat").read_text().rpartition(")")[2].split()[11:15]
        except (FileNotFoundError, ProcessLookupError):
            continue  # the process has ended
        for part, word in PARTS.items():
            if word in words:
                found[part] += sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
                break
    return found


if __name__ == "__main__":
    sys.exit(main())
