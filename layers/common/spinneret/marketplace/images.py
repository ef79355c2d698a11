"""Fetch images by URL, for marketplaces that need the file."""

from spinneret.kernel.errors import (
    BodyTooLarge,
    ContentRefused,
    FetchFailed,
    FetchTimeout,
    InputNeeded,
    MarketplaceUnavailable,
    TooManyRedirects,
    UrlBlocked,
    UrlInvalid,
    field_error,
)
from spinneret.kernel.service import service
from spinneret.marketplace import limits
from spinneret.marketplace.calls.service import LATER
from spinneret.web.fetching.models import FetchRequest
from spinneret.web.fetching.ports import Fetcher
from spinneret.web.fetching.urls import parse_url

_TYPES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})


@service
class ImageSource:
    """Fetches images, subject to the address rules."""

    fetcher: Fetcher

    def __call__(self, url: str) -> tuple[bytes, str]:
        """Return the file and its media type.

        Raises InputNeeded for a URL without an image, and MarketplaceUnavailable if its host
        doesn't answer.
        """
        try:
            page = self.fetcher.fetch(
                FetchRequest(
                    url=parse_url(url),
                    media_types=_TYPES,
                    max_bytes=limits.MARKETPLACE_IMAGE_BYTES,
                    total_seconds=limits.MARKETPLACE_CALL_SECONDS,
                    read_seconds=limits.MARKETPLACE_CALL_SECONDS,
                )
            )
        except (FetchTimeout, FetchFailed) as error:
            raise MarketplaceUnavailable(f"the image's host: {error.message}") from error
        except (BodyTooLarge, ContentRefused, TooManyRedirects, UrlBlocked, UrlInvalid) as error:
            raise _unfit(url, error.message) from error
        if page.status_code >= 500 or page.status_code in LATER:
            raise MarketplaceUnavailable(f"the image's host answers {page.status_code}")
        if page.status_code != 200:
            raise _unfit(url, f"the image's host answers {page.status_code}")
        return page.body, page.media_type


def _unfit(url: str, why: str) -> InputNeeded:
    return InputNeeded(
        f"an image can't be fetched: {why}",
        details={"fields": [field_error("images", why, url=url)]},
    )
