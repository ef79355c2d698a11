"""Vectors with half precision."""

import math
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from spinneret.content.search.tei_protocol import unit
from spinneret.content.vectors import Vector, bytes_of, rounded, vector_of


@given(st.integers(0), st.sampled_from([3, 384, 1024]))
def test_rounded_vectors_have_almost_the_same_cosines(seed: int, dimension: int) -> None:
    random = Random(seed)
    one, other = (_gauss(random, dimension) for _ in range(2))
    exact = math.sumprod(one, other) / math.hypot(*one) / math.hypot(*other)
    found = math.sumprod(unit(one, dimension), unit(other, dimension))
    assert math.isclose(exact, found, abs_tol=2**-10)


def test_an_encoded_vector_takes_two_bytes_a_number_and_is_decoded_as_it_was_rounded() -> None:
    vector = unit(_gauss(Random(0), 384), 384)
    assert len(bytes_of(vector)) == 2 * 384
    assert vector_of(bytes_of(vector)) == rounded(vector) == vector


def _gauss(random: Random, dimension: int) -> Vector:
    return tuple(random.gauss() for _ in range(dimension))
