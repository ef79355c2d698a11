"""Environment variables: the error names all invalid ones at once."""

from typing import Any

import pytest

from spinneret.kernel.settings import SettingsError, Variable, flag, integer, names, number, read
from spinneret.kernel.settings import text as text_variable

NAME = "X"
TEXT = text_variable(NAME)
WHOLE, NUMBER, FLAG, NAMES = integer(NAME), number(NAME), flag(NAME), names(NAME)


@pytest.mark.parametrize(
    ("variable", "given", "value"),
    [
        (TEXT, "jobs", "jobs"),
        (TEXT, "", ""),
        (WHOLE, "5", 5),
        (NUMBER, "0.5", 0.5),
        *((FLAG, given, True) for given in ("true", "TRUE", " true ", "1")),
        *((FLAG, given, False) for given in ("false", "False", "0", "")),
        *((NAMES, given, frozenset()) for given in ("", " , ,")),
        (NAMES, "a:1", frozenset({"a:1"})),
        (NAMES, " a:1 ,b:2,, a:1", frozenset({"a:1", "b:2"})),
    ],
)
def test_a_text_is_read_as_its_variable_says(
    variable: Variable[Any], given: str, value: object
) -> None:
    assert read({NAME: given, "OTHER": "y"}, [variable]) == {NAME: value}


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        (text_variable(NAME, ""), ""),
        (integer(NAME, 0), 0),
        (number(NAME, 0.5), 0.5),
        (flag(NAME, default=False), False),
        (names(NAME, frozenset()), frozenset()),
    ],
)
def test_a_default_fills_what_is_not_set(variable: Variable[Any], value: object) -> None:
    assert read({}, [variable]) == {NAME: value}


@pytest.mark.parametrize(
    ("variable", "given"),
    [
        *((WHOLE, given) for given in ("three", "", "1.5")),
        *((NUMBER, given) for given in ("half", "")),
        *((FLAG, given) for given in ("yes", "2")),
        (integer(NAME, 3), "three"),
    ],
)
def test_a_malformed_variable_is_named(variable: Variable[Any], given: str) -> None:
    with pytest.raises(SettingsError, match=rf"\b{NAME}: "):
        read({NAME: given}, [variable])


def test_all_missing_and_malformed_variables_are_named_at_once() -> None:
    variables = [text_variable("ONE"), integer("TWO"), flag("THREE"), text_variable("FOUR")]
    with pytest.raises(SettingsError) as raised:
        read({"TWO": "2.5", "THREE": "yes", "FOUR": "4"}, variables)
    assert str(raised.value) == (
        "environment variables: ONE: not set; "
        "TWO: invalid literal for int() with base 10: '2.5'; THREE: expected true or false"
    )
