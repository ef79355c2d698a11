"""Settings from the environment; a wrong variable is named."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass
from typing import Any

import pytest

from spinneret.kernel.settings import Settings, SettingsError


@dataclass(frozen=True, kw_only=True)
class Store(Settings):
    jobs_table: str
    retries: int = 3


@dataclass(frozen=True, kw_only=True)
class Fetching(Settings):
    ratio: float
    debug: bool = False
    allowed_endpoints: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Worker(Store, Fetching):
    pass


COMPLETE = {"JOBS_TABLE": "jobs", "RATIO": "0.5"}


def test_a_function_s_settings_are_the_sum_of_its_domains_settings() -> None:
    env = {**COMPLETE, "RETRIES": "5", "DEBUG": "true", "ALLOWED_ENDPOINTS": "a:1", "OTHER": "x"}
    assert Worker.from_env(env) == Worker(
        jobs_table="jobs",
        retries=5,
        ratio=0.5,
        debug=True,
        allowed_endpoints=frozenset({"a:1"}),
    )


def test_defaults_fill_what_is_not_set() -> None:
    settings = Worker.from_env(COMPLETE)
    assert (settings.retries, settings.debug, settings.allowed_endpoints) == (3, False, frozenset())


@pytest.mark.parametrize("missing", list(COMPLETE))
def test_a_missing_variable_is_named(missing: str) -> None:
    env = {name: value for name, value in COMPLETE.items() if name != missing}
    with pytest.raises(SettingsError, match=rf"\b{missing}\b"):
        Worker.from_env(env)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("RETRIES", "three"),
        ("RETRIES", ""),
        ("RETRIES", "1.5"),
        ("RATIO", "half"),
        ("RATIO", ""),
        ("DEBUG", "yes"),
        ("DEBUG", "2"),
    ],
)
def test_a_malformed_variable_is_named(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=rf"\b{name}\b"):
        Worker.from_env({**COMPLETE, name: value})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("true", True),
        ("TRUE", True),
        (" true ", True),
        ("1", True),
        ("false", False),
        ("False", False),
        ("0", False),
        ("", False),
    ],
)
def test_a_truth_value_has_few_spellings(text: str, expected: bool) -> None:
    assert Worker.from_env({**COMPLETE, "DEBUG": text}).debug is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", set()),
        (" , ,", set()),
        ("a:1", {"a:1"}),
        (" a:1 ,b:2,, a:1", {"a:1", "b:2"}),
    ],
)
def test_names_are_separated_by_commas(text: str, expected: set[str]) -> None:
    assert Worker.from_env({**COMPLETE, "ALLOWED_ENDPOINTS": text}).allowed_endpoints == expected


def test_settings_cannot_be_changed() -> None:
    settings: Any = Worker.from_env(COMPLETE)
    with pytest.raises(FrozenInstanceError):
        settings.ratio = 1.0
