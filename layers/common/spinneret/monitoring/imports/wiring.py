"""Wire the import route."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spinneret.jobs.settings import JobSettings
from spinneret.jobs.wiring import job_service
from spinneret.monitoring.imports.service import ImportService
from spinneret.web.fetching.wiring import FetchSettings, address_policy


@dataclass(frozen=True, kw_only=True)
class ImportApiSettings(JobSettings, FetchSettings):
    """Environment variables of the import route."""


def import_service(env: Mapping[str, str]) -> ImportService:
    """Build the import service of this stage."""
    settings = ImportApiSettings.from_env(env)
    return ImportService(jobs=job_service(settings), policy=address_policy(settings))
