"""Facts as compact JSON; rows are arrays."""

from typing import Final

from spinneret.audits.facts.models import PageFacts
from spinneret.audits.facts.site import SiteFacts
from spinneret.kernel.typed_json import TypedJson

PAGES: Final = TypedJson(PageFacts)
SITES: Final = TypedJson(SiteFacts)
