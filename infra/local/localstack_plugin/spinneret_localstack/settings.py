"""Settings of the process executor, read once when LocalStack starts."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

PYTHON = "SPINNERET_LAMBDA_PYTHON"
ARCHIVES = "SPINNERET_LAMBDA_ARCHIVES"
PARALLEL_INITS = "SPINNERET_LAMBDA_PARALLEL_INITS"
MAX_ENVIRONMENTS = "SPINNERET_LAMBDA_MAX_ENVIRONMENTS"
MAX_IDLE = "SPINNERET_LAMBDA_MAX_IDLE"
IDLE_SECONDS = "SPINNERET_LAMBDA_IDLE_SECONDS"
CALLS = "SPINNERET_LAMBDA_CALLS"

# A function process takes 40 to 100 MB, so 32 of them fit into 8 GB with the other services.
DEFAULT_MAX_ENVIRONMENTS = 32
DEFAULT_MAX_IDLE = 12
DEFAULT_IDLE_SECONDS = 60


class SettingsError(Exception):
    """A variable is missing or invalid; the message names it."""


@dataclass(frozen=True)
class Settings:
    """
    python: interpreter of the functions, with awslambdaric and boto3 installed.
    archives: folder of unpacked code and layers, kept for the next start.
    parallel_inits: function processes that may import their code at the same time.
    max_environments: live function processes over all functions.
    max_idle: processes of these that may be idle.
    idle_seconds: time after which an idle process ends.
    calls: folder of recorded calls, see recorded_calls.py; empty to record none.
    """

    python: Path
    archives: Path
    parallel_inits: int
    max_environments: int
    max_idle: int
    idle_seconds: int
    calls: str = ""

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> Settings:
        """Read the settings. Raises SettingsError."""
        python = _given(env, PYTHON, "the functions' interpreter")
        if not os.access(python, os.X_OK) or not Path(python).is_absolute():
            raise SettingsError(f"{PYTHON}={python} is not the absolute path of an executable")
        return cls(
            python=Path(python),
            archives=Path(_given(env, ARCHIVES, "the folder of unpacked code")),
            # Starting is CPU-bound: with more at once, each start approaches the limit of 10 s.
            parallel_inits=_positive(env, PARALLEL_INITS, 2 * (os.cpu_count() or 1)),
            max_environments=_positive(env, MAX_ENVIRONMENTS, DEFAULT_MAX_ENVIRONMENTS),
            max_idle=_positive(env, MAX_IDLE, DEFAULT_MAX_IDLE),
            idle_seconds=_positive(env, IDLE_SECONDS, DEFAULT_IDLE_SECONDS),
            calls=env.get(CALLS, ""),
        )


def _given(env: Mapping[str, str], name: str, meaning: str) -> str:
    value = env.get(name)
    if not value:
        raise SettingsError(f"{name} is not set: it names {meaning}")
    return value


def _positive(env: Mapping[str, str], name: str, default: int) -> int:
    text = env.get(name)
    if not text:
        return default
    if not text.isdecimal() or int(text) < 1:
        raise SettingsError(f"{name}={text} is not a positive whole number")
    return int(text)
