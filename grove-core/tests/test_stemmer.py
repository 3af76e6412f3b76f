"""The stemmer: endings go, and what is no English word stays as it is."""

import pytest

from grove_core.stemmer import stem

# Examples of the paper (M. F. Porter, 1980), some for each step.
EXAMPLES = """
caresses caress, ponies poni, cats cat, feed feed, agreed agre, plastered plaster, sing sing,
conflated conflat, hopping hop, filing file, happy happi, sky sky, relational relat,
digitizer digit, vietnamization vietnam, hopefulness hope, electrical electr, goodness good,
adjustable adjust, replacement replac, adoption adopt, effective effect, rate rate, cease ceas,
controll control, generalizations gener, oscillators oscil
"""
PAIRS = [tuple(pair.split()) for pair in EXAMPLES.replace("\n", " ").split(", ")]


@pytest.mark.parametrize(("word", "expected"), PAIRS)
def test_the_examples_of_the_paper(word, expected):
    assert stem(word) == expected


@pytest.mark.parametrize("word", ["", "a", "is", "js", "utf8s", "naïves", "two words", "x" * 100])
def test_what_is_no_word_of_letters_is_its_own_stem(word):
    assert stem(word) == word
