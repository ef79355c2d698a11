"""Bounds of media, each with its source."""

from typing import Final

URLS_PER_SCREENSHOT: Final = 20  # C-11; up to four rows per URL in one transaction of at most 100
MEDIA_KEPT_SECONDS: Final = 7 * 24 * 3600  # C-11; as the bucket's rule in infra/media.yaml
MEDIA_PENDING_SECONDS: Final = 24 * 3600.0  # a later picture isn't the wanted one
MEDIA_LEAST_SECONDS: Final = 15.0  # skip the rendering when less time remains
SCRIPTS_SHOWN_BYTES: Final = 64 * 1024  # of all results; they are in the job's row
MEDIA_CHECKPOINT_PERCENT: Final = 80  # of progress, once the page is rendered
