"""Chooses the adapters of what admits requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spinneret.access.keys.service import KeyService
from spinneret.access.keys.wiring import KeySettings, key_service
from spinneret.access.uploads.service import UploadService
from spinneret.access.uploads.wiring import UploadSettings, upload_service


@dataclass(frozen=True, kw_only=True)
class AdmissionSettings(KeySettings, UploadSettings):
    """What every API function reads."""


@dataclass(frozen=True, kw_only=True)
class AdmissionServices:
    """What every API function admits requests by."""

    keys: KeyService
    """Checks credentials."""
    uploads: UploadService
    """Has the bodies that came before their request."""


def admitting(env: Mapping[str, str]) -> AdmissionServices:
    """The services of this stage."""
    settings = AdmissionSettings.from_env(env)
    return AdmissionServices(keys=key_service(settings), uploads=upload_service(settings))
