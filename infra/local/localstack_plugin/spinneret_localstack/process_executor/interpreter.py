"""The Python interpreter of the functions."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

PROBE_TIMEOUT_SECONDS = 30
_PROBE = """
import json, sys, sysconfig
import awslambdaric, boto3
print(json.dumps(["python%d.%d" % sys.version_info[:2], sysconfig.get_path("purelib")]))
"""


@dataclass(frozen=True)
class Interpreter:
    """`runtime` is the Lambda name such as python3.12; `packages` holds awslambdaric and boto3."""

    executable: Path
    runtime: str
    packages: Path

    @classmethod
    def probe(cls, executable: Path) -> Interpreter:
        """Inspect an interpreter.

        Raises CalledProcessError when awslambdaric or boto3 is missing.
        """
        answer = subprocess.run(
            [executable, "-c", _PROBE],
            env={},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            timeout=PROBE_TIMEOUT_SECONDS,
            check=True,
        )
        runtime, packages = json.loads(answer.stdout)
        return cls(executable, runtime, Path(packages))
