"""Strict JSON parsing and canonical JSON output.

Two requests are the same if their canonical forms are equal. So parsing refuses anything that would
make this ambiguous: duplicate keys, NaN and infinities, bytes that aren't UTF-8.
"""

import hashlib
import json
import math
from collections import Counter
from typing import Any

from spinneret.kernel import bounds
from spinneret.kernel.errors import ValidationFailed, field_error


def parse_json(text: str | bytes) -> Any:
    """Parse strictly (RFC 8259; duplicate names refused as I-JSON does, RFC 7493 section 2.3).

    Raises ValidationFailed with line and column, which count from 1.
    """
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8")
        return json.loads(
            text,
            object_pairs_hook=_unique,
            parse_constant=_refuse_constant,
            parse_float=_finite,
        )
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        reason = field_error(
            "body", f"{error.msg} at {where}", line=error.lineno, column=error.colno
        )
        message = f"the body is not valid JSON: {reason['message']}"
        raise ValidationFailed(message, details={"fields": [reason]}) from error
    except (ValueError, RecursionError) as error:  # not UTF-8, too many digits or levels
        raise ValidationFailed.of_field("body", "the body is not valid JSON") from error


def canonical_json(value: Any) -> bytes:
    """Return JSON with sorted keys, without blanks, in UTF-8.

    Distinguishes 1 from "1" from true, and null from missing. Numbers keep Python's shortest form,
    so 1 and 1.0 differ. RFC 8785 would unify them, which no request of ours needs.
    """
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    ).encode("utf-8", "surrogatepass")


def json_text(value: Any) -> str:
    """Return the stored form of a free-form value: JSON without blanks, in the given order.

    Raises ValidationFailed for a value that isn't JSON or UTF-8, or has more than JSON_LEVELS_MAX
    levels, which no response could show; stores encode before they write anything.
    """
    try:
        text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        text.encode()
    except (
        TypeError,
        ValueError,
        RecursionError,
    ) as error:  # sets, NaN, circular references, unpaired surrogates
        raise ValidationFailed.of_field("body", "a value isn't JSON") from error
    if text.count("[") + text.count("{") > bounds.JSON_LEVELS_MAX and is_deeper(
        value, bounds.JSON_LEVELS_MAX
    ):
        raise ValidationFailed.of_field(
            "body", f"a value has more than {bounds.JSON_LEVELS_MAX} levels of lists and objects"
        )
    return text


def is_deeper(value: Any, levels: int) -> bool:
    """Return whether JSON lists and objects within each other have more than `levels` levels."""
    found = [value]
    for _ in range(levels + 1):
        found = [each for each in found if isinstance(each, (dict, list, tuple))]
        if not found:
            return False
        found = [
            inner for each in found for inner in (each.values() if isinstance(each, dict) else each)
        ]
    return True


def fingerprint(value: Any) -> str:
    """Return the SHA-256 of the canonical form, in hex."""
    return hashlib.sha256(canonical_json(value)).hexdigest()


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        names = Counter(name for name, _ in pairs)
        twice = next(name for name, times in names.items() if times > 1)
        raise ValidationFailed.of_field(twice, "occurs twice", error="duplicate field in the body")
    return result


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValidationFailed.of_field("body", "a number is out of range")
    return value


def _refuse_constant(name: str) -> Any:
    raise ValidationFailed.of_field("body", f"{name} is not a JSON number")
