"""Select the adapters of the services that admit requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spinneret.access.keys.service import KeyService
from spinneret.access.keys.wiring import KeySettings, key_service
from spinneret.access.uploads.service import UploadService
from spinneret.access.uploads.wiring import UploadSettings, upload_service


@dataclass(frozen=True, kw_only=True)
class AdmissionSettings(KeySettings, UploadSettings):
    """Settings that every API function reads."""


@dataclass(frozen=True, kw_only=True)
class AdmissionServices:
    """Services by which every API function admits requests."""

    keys: KeyService
    """Check credentials."""
    uploads: UploadService
    """Return bodies that were uploaded before their request."""


def admitting(env: Mapping[str, str]) -> AdmissionServices:
    """Build the admission services of this stage."""
    settings = AdmissionSettings.from_env(env)
    return AdmissionServices(keys=key_service(settings), uploads=upload_service(settings))
