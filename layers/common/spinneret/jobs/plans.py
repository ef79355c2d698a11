"""The plan of a parent: the drafts of its children as texts that fit into rows."""

import json
from collections.abc import Sequence
from typing import Any

from spinneret.jobs import limits
from spinneret.jobs.bodies import check_payload
from spinneret.jobs.models import Draft, Priority
from spinneret.kernel.canonical import json_text
from spinneret.kernel.errors import ValidationFailed


def plan_of(drafts: Sequence[Draft]) -> tuple[str, ...]:
    """Return texts of at most PLAN_ROW_BYTES. Raises ValidationFailed if all exceed PLAN_BYTES."""
    texts: list[str] = []
    part: list[str] = []
    size = whole = 0
    for draft in drafts:
        check_payload(draft.payload)
        line = json_text(_line(draft))
        length = len(line.encode()) + 1
        if part and size + length > limits.PLAN_ROW_BYTES:
            texts.append(f"[{','.join(part)}]")
            part, size = [], 0
        part.append(line)
        size += length
        whole += length
    if part:
        texts.append(f"[{','.join(part)}]")
    if whole > limits.PLAN_BYTES:
        raise ValidationFailed.of_field(
            "body", f"the jobs have {whole} bytes of JSON, over {limits.PLAN_BYTES}"
        )
    return tuple(texts)


def drafts_of(text: str) -> list[Draft]:
    """Convert one text of `plan_of` back to drafts."""
    return [
        Draft(**line | {"priority": Priority(line["priority"]), "notify": tuple(line["notify"])})
        for line in json.loads(text)
    ]


def _line(draft: Draft) -> dict[str, Any]:
    return {
        "kind": draft.kind,
        "payload": draft.payload,
        "priority": draft.priority.value,
        "domain": draft.domain,
        "notify": list(draft.notify),
        "duplicate_key": draft.duplicate_key,
        "once": draft.once,
        "id": draft.id,
    }
