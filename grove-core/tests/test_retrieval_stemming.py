"""The stemmer against the examples that its paper gives for each step."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_core.retrieval.stemming import stem

# Each step's own example, carried through all five steps.
EXAMPLES = """
caresses caress, ponies poni, ties ti, caress caress, cats cat, feed feed, agreed agre,
plastered plaster, bled bled, motoring motor, sing sing, conflated conflat, troubled troubl,
sized size, hopping hop, tanned tan, falling fall, hissing hiss, fizzed fizz, failing fail,
filing file, happy happi, sky sky, relational relat, conditional condit, rational ration,
valenci valenc, hesitanci hesit, digitizer digit, conformabli conform, radicalli radic,
differentli differ, vileli vile, analogousli analog, vietnamization vietnam, predication predic,
operator oper, feudalism feudal, decisiveness decis, hopefulness hope, callousness callous,
formaliti formal, sensitiviti sensit, sensibiliti sensibl, triplicate triplic, formative form,
formalize formal, electriciti electr, electrical electr, hopeful hope, goodness good,
revival reviv, allowance allow, inference infer, airliner airlin, gyroscopic gyroscop,
adjustable adjust, defensible defens, irritant irrit, replacement replac, adjustment adjust,
dependent depend, adoption adopt, homologou homolog, communism commun, activate activ,
angulariti angular, homologous homolog, effective effect, bowdlerize bowdler, probate probat,
rate rate, cease ceas, controll control, roll roll,
generalizations gener, oscillators oscil
"""
PAIRS = [tuple(pair.split()) for pair in EXAMPLES.replace("\n", " ").split(", ")]


@pytest.mark.parametrize(("word", "expected"), PAIRS)
def test_the_examples_of_the_paper(word, expected):
    assert stem(word) == expected


@pytest.mark.parametrize(
    "family",
    [
        "connect connected connecting connection connections",
        "resolve resolves resolved resolving resolver",
        "migration migrations migrate migrating",
    ],
)
def test_words_of_a_family_have_one_stem(family):
    assert len({stem(word) for word in family.split()}) == 1


@pytest.mark.parametrize("word", ["", "a", "is", "as", "us", "js"])
def test_words_of_two_letters_stay(word):
    assert stem(word) == word


@settings(max_examples=300)
@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz", max_size=24))
def test_any_word_has_a_stem_no_longer_than_itself(word):
    assert len(stem(word)) <= max(len(word), 1)
    assert bool(stem(word)) == bool(word)
    assert stem(word) == stem(word)


@given(
    st.text(alphabet="aeioubcdlstyz", min_size=3, max_size=20).filter(lambda word: word[-1] != "s")
)
def test_a_plural_has_the_stem_of_its_singular(word):
    # Words on s and y change more than their ending.
    if word[-1] not in "yie":
        assert stem(word + "s") == stem(word)
