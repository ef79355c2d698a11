"""Two requests are the same if their canonical forms are equal."""

import functools
import itertools
import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinneret.kernel import bounds
from spinneret.kernel.canonical import canonical_json, fingerprint, json_text, parse_json
from spinneret.kernel.errors import ValidationFailed
from tests.rows import each_row

JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)

REFUSED = {
    "nothing": "",
    "blank": " ",
    "half an object": '{"a": 1',
    "two values": "1 2",
    "single quotes": "{'a': 1}",
    "a comment": '{"a": 1} // x',
    "a trailing comma": "[1,]",
    "duplicate keys": '{"a": 1, "a": 1}',
    "duplicate keys inside": '[{"b": {"a": 1, "a": 2}}]',
    "duplicate keys in another spelling": '{"a": 1, "\\u0061": 1}',
    "NaN": '{"a": NaN}',
    "infinity": "[Infinity]",
    "negative infinity": "-Infinity",
    "a number beyond all floats": "1e999",
    "a negative number beyond all floats": '{"a": [-1e999]}',
    "a number of too many digits": "1" * 5000,
    "deep lists": "[" * 100_000,
    "deep objects": '{"a":' * 100_000,
    "a byte order mark": "\ufeff{}",
    "a control character in a text": '"a\nb"',
}


@each_row((ascii(name), name) for name in list(REFUSED))
def test_what_is_ambiguous_or_no_json_is_refused(name: str) -> None:
    with pytest.raises(ValidationFailed):
        parse_json(REFUSED[name])
    with pytest.raises(ValidationFailed):
        parse_json(REFUSED[name].encode())


@pytest.mark.parametrize("inner", [[1], {"a": 1}])
def test_a_stored_value_has_no_more_levels_than_a_response_can_show(inner: Any) -> None:
    value = functools.reduce(lambda found, _: [found], range(bounds.JSON_LEVELS_MAX - 1), inner)
    assert json.loads(json_text([1] * 200 + value)) == [1] * 200 + value
    with pytest.raises(ValidationFailed):
        json_text({"a": value})


def test_a_duplicate_among_many_keys_is_found_at_once() -> None:
    names = [f'"{number}": 0' for number in range(20_000)]
    began = time.process_time()
    with pytest.raises(ValidationFailed):
        parse_json(f"{{{', '.join([*names, names[-1]])}}}")
    assert time.process_time() - began < 1


@pytest.mark.parametrize(
    "data", [b'"\xff"', b"\xff\xfe{\x00}\x00", b'"\xed\xa0\x80"', b'"\xc0\x80"']
)
def test_bytes_that_are_not_utf_8_are_refused(data: bytes) -> None:
    with pytest.raises(ValidationFailed):
        parse_json(data)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('{"a": 1, "b": [true, null]}', '{"b":[true,null],"a":1}'),
        ('{"x": {"b": 1, "a": 2}}', ' {\n"x"\t: {"a":2 ,"b":1}}\r\n'),
        ('"\\u00fc\\/"', '"ü/"'),
        ('"\\ud83d\\udd77"', '"🕷"'),
        ("1e2", "100.0"),
        ("0.10", "0.1"),
        ("-0", "0"),
    ],
)
def test_another_spelling_is_the_same_request(one: str, other: str) -> None:
    assert fingerprint(parse_json(one)) == fingerprint(parse_json(other))


DIFFERENT = [
    "1",
    '"1"',
    "true",
    '"true"',
    "null",
    '"null"',
    "{}",
    "[]",
    '""',
    '{"a": null}',
    '{"a": {}}',
    '{"a": 1}',
    '{"a": "1"}',
    '{"a": true}',
    '{"A": 1}',
    "[1, 2]",
    "[2, 1]",
    "[[1], 2]",
    "[[1, 2]]",
    '["1,2"]',
    '"é"',
    '"e\u0301"',
    '"a"',
    '" a"',
    '"\\ud800"',
    '"?"',
]


def test_different_requests_have_different_fingerprints() -> None:
    prints = {text: fingerprint(parse_json(text)) for text in DIFFERENT}
    for one, other in itertools.combinations(DIFFERENT, 2):
        assert prints[one] != prints[other], (one, other)


def test_a_fingerprint_is_a_sha_256_in_hex_and_never_changes() -> None:
    """Stored keys depend on this value: `printf '{"a":[1,null,"ü"]}' | sha256sum`."""
    assert fingerprint({"a": [1, None, "ü"]}) == (
        "49831c0eb57c0eb0056d765eb012b4c84e79027f9327f39c122ae54c64cc35c6"
    )


@given(JSON_VALUES)
def test_the_canonical_form_reads_back_as_the_value(value: Any) -> None:
    text = canonical_json(value)
    assert parse_json(text) == value
    assert canonical_json(parse_json(text)) == text


@given(JSON_VALUES)
def test_the_order_of_keys_does_not_matter(value: Any) -> None:
    assert canonical_json(reversed_keys(value)) == canonical_json(value)


def reversed_keys(value: Any) -> Any:
    match value:
        case dict():
            return {key: reversed_keys(inner) for key, inner in reversed(value.items())}
        case list():
            return [reversed_keys(inner) for inner in value]
    return value


@given(JSON_VALUES)
def test_blanks_and_escapes_do_not_matter(value: Any) -> None:
    spelled = json.dumps(value, indent=3, ensure_ascii=True)
    assert canonical_json(parse_json(spelled)) == canonical_json(value)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [float("-inf")]])
def test_what_json_cannot_hold_is_never_written(value: Any) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_json(value)
