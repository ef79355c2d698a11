"""Parts of a crawled page as JSON, which would be too large for its job's result."""

import json
from dataclasses import asdict
from typing import Any

from spinneret.content.chunking.parts import blocks_of
from spinneret.content.extraction.models import Content, ExtractionStrategy
from spinneret.kernel.unicode import storable


def parts_of(content: Content, strategy: ExtractionStrategy) -> str:
    """Encode metadata, links, and the blocks of a structured page as JSON.

    A link has `may_follow` if another occurrence contradicts the `nofollow` of its first one.
    """
    parts: dict[str, Any] = {
        "metadata": asdict(content.metadata),
        "links": [
            {"url": each.url, "text": each.text, "rel": list(each.rel), "nofollow": each.nofollow}
            | ({"may_follow": each.may_follow} if each.may_follow is each.nofollow else {})
            for each in content.hyperlinks
        ],
    }
    if content.nofollow_agents:
        parts["nofollow_agents"] = list(content.nofollow_agents)
    if strategy is ExtractionStrategy.STRUCTURED:
        markdown = content.markdown
        parts["blocks"] = [
            {"type": block.type, "text": markdown[block.start : block.end]}
            for block in blocks_of(markdown)
        ]
    return storable(json.dumps(parts, ensure_ascii=False, sort_keys=True))
