"""Instance of the local stack for benchmarks: `bench`, or the one in SPINNERET_TEST_INSTANCE."""

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "infra" / "local"), str(ROOT / "layers" / "common")]

from stack.deployment.settings import market_hosts
from stack.instance import Instance
from stack.workspace import Workspace

NAME: Final = os.environ.get("SPINNERET_TEST_INSTANCE", "bench")
SITE_PORT: Final = 8485
MARKETS_PORT: Final = 8488


def run_stack(*words: str, **environ: str) -> str:
    """Run a command of the stack's command line on the instance, and return its output."""
    paths = (ROOT / "infra" / "local", ROOT / "layers" / "common", ROOT)
    done = subprocess.run(
        [sys.executable, "-m", "stack", *words, "--instance", NAME],
        cwd=ROOT,
        env={
            **os.environ,
            "PYTHONPATH": ":".join(map(str, paths)),
            "SPINNERET_FETCH_ALLOWED": f"127.0.0.1:{SITE_PORT},127.0.0.1:{MARKETS_PORT}",
            "SPINNERET_MARKETPLACE_HOSTS": market_hosts(f"http://127.0.0.1:{MARKETS_PORT}"),
            **environ,
        },
        stdout=subprocess.PIPE,
        text=True,
        timeout=900,
        check=False,
    )
    if done.returncode:
        raise SystemExit(done.stdout)
    return done.stdout


def bench() -> Instance:
    """Return the instance; it must have been started."""
    return Instance.named(NAME, Workspace.from_environment(os.environ))


def endpoints() -> dict[str, Any]:
    """Return the addresses of the instance's parts."""
    found: dict[str, Any] = json.loads(bench().endpoints_file.read_text())
    return found


def outputs() -> dict[str, str]:
    """Return the outputs of the instance's deployment."""
    found: dict[str, str] = json.loads((bench().folder / "deployment.json").read_text())["outputs"]
    return found


def api_url() -> str:
    """Return the base URL of the deployed API."""
    return f"{endpoints()['gateway']}/_aws/execute-api/{outputs()['ApiId']}/local"


def issue_key(tenant: str = "bench") -> str:
    """Return a new key with the highest rate limit, because benchmarks poll."""
    return run_stack("key", tenant, "--requests-per-minute", "6000").strip()


def spread(times: list[float], unit: str = "ms") -> str:
    """Return the median and the 95th percentile as a text."""
    ordered = sorted(times)
    p95 = ordered[int(len(ordered) * 0.95)]
    return f"median {statistics.median(ordered):.0f} {unit}, p95 {p95:.0f} {unit}"
