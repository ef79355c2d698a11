"""The parts that docs/library.md shows work as it says, where there is no AWS package at all."""

from __future__ import annotations

import re
import subprocess
import sys

from tests.architecture.conftest import ROOT

# Whatever talks to AWS, or faces Lambda, can't be imported.
WITHOUT_AWS = """
import sys
for name in ("boto3", "botocore", "aws_lambda_powertools", "opensearchpy"):
    sys.modules[name] = None
"""


def test_every_example_of_the_library_page_runs_without_aws() -> None:
    text = (ROOT / "docs" / "library.md").read_text()
    *examples, imports = re.findall(r"```python\n(.+?)```", text, re.DOTALL)
    assert len(examples) == 5
    program = "\n".join([WITHOUT_AWS, imports, *examples])
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": str(ROOT / "layers" / "common")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "hunter2" not in done.stdout
    assert done.stdout.splitlines() == [
        "169.254.169.254 leads to a host that must not be reached",
        "http://xn--bcher-kva.example/a?b=2&a=1",
        "http://xn--bcher-kva.example/a?a=1&b=2",
        "shop.example.co.uk",
        "{'user': 'ada', 'password': '[redacted]', 's3_key': 'T/acme/page.md'}",
        "GET https://ada:[redacted]@db.example/?api_key=[redacted]&page=2",
        "[{'name': 'Authorization', 'value': '[redacted]'}]",
        "True",
        "2.0",
        "msg_1 Retry(after_seconds=60.0, throttle=True)",
    ]
