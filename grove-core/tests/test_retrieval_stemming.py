"""The stemmer against the examples that its paper gives for each step."""

import pytest

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


@pytest.mark.parametrize("word", ["", "a", "is", "as", "us", "js"])
def test_words_of_two_letters_stay(word):
    assert stem(word) == word
