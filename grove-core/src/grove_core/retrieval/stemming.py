"""The stems of English words."""

_SHORTEST = 3
_MOST_KEPT = 20_000

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_VOWELS = "aeiou"
# Each letter as consonant or vowel; what y is depends on the letter before it.
_FORMS = str.maketrans({letter: "v" if letter in _VOWELS else "c" for letter in _LETTERS})

_STEP_2 = (
    "ational ate, tional tion, enci ence, anci ance, izer ize, abli able, alli al, entli ent, "
    "eli e, ousli ous, ization ize, ation ate, ator ate, alism al, iveness ive, fulness ful, "
    "ousness ous, aliti al, iviti ive, biliti ble"
)
_STEP_3 = "icate ic, ative -, alize al, iciti ic, ical ic, ful -, ness -"
_STEP_4 = (
    "al -, ance -, ence -, er -, ic -, able -, ible -, ant -, ement -, ment -, ent -, sion s, "
    "tion t, ou -, ism -, ate -, iti -, ous -, ive -, ize -"
)
_Rules = dict[str, list[tuple[str, str]]]


def _rules(table: str) -> _Rules:
    """Order the rules by the last two letters of their suffixes, the longest suffix first."""
    rules: _Rules = {}
    for rule in table.split(", "):
        suffix, replacement = rule.split()
        rules.setdefault(suffix[-2:], []).append((suffix, replacement.strip("-")))
    for same_end in rules.values():
        same_end.sort(key=lambda rule: -len(rule[0]))
    return rules


_STEPS = ((_rules(_STEP_2), 0), (_rules(_STEP_3), 0), (_rules(_STEP_4), 1))
_kept: dict[str, str] = {}


def stem(word: str) -> str:
    """Cut an English word down to its stem."""
    found = _kept.get(word)
    if found is None:
        if len(_kept) >= _MOST_KEPT:
            _kept.clear()
        found = _kept[word] = _stem(word) if len(word) >= _SHORTEST else word
    return found


def _stem(word: str) -> str:
    word = _without_plural(word)
    if word.endswith(("ed", "ing")):
        word = _without_ed_or_ing(word)
    if word[-1] == "y" and "v" in _form(word[:-1]):
        word = word[:-1] + "i"
    for rules, measure in _STEPS:
        for suffix, replacement in rules.get(word[-2:], ()):
            if word.endswith(suffix):
                kept = word[: len(word) - len(suffix)]
                if (
                    _measure(kept + replacement if suffix in {"sion", "tion"} and measure else kept)
                    > measure
                ):
                    word = kept + replacement
                break
    return _without_last_e(word)


def _form(word: str) -> str:
    """Write a word as consonants "c" and vowels "v"."""
    form = word.translate(_FORMS)
    if "y" in word:
        letters = list(form)
        for index, letter in enumerate(word):
            if letter == "y" and index and letters[index - 1] == "c":
                letters[index] = "v"
        form = "".join(letters)
    return form


def _measure(word: str) -> int:
    """Count how often a vowel is followed by a consonant: the paper's m."""
    return _form(word).count("vc")


def _without_plural(word: str) -> str:
    if word[-1] != "s" or word.endswith("ss"):
        return word
    return word[:-2] if word.endswith(("sses", "ies")) else word[:-1]


def _without_ed_or_ing(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    kept = word[:-2] if word.endswith("ed") else word[:-3]
    if "v" not in _form(kept):
        return word
    if kept.endswith(("at", "bl", "iz")):
        return kept + "e"
    if kept[-1] == kept[-2:-1] and kept[-1] not in "lsz" and _form(kept)[-1] == "c":
        return kept[:-1]
    return kept + "e" if _measure(kept) == 1 and _ends_like_hop(kept) else kept


def _ends_like_hop(word: str) -> bool:
    """Consonant, vowel, consonant other than w, x and y: the paper's *o."""
    return _form(word).endswith("cvc") and word[-1] not in "wxy"


def _without_last_e(word: str) -> str:
    if word[-1] == "e":
        kept = word[:-1]
        measure = _measure(kept)
        if measure > 1 or (measure == 1 and not _ends_like_hop(kept)):
            word = kept
    if word.endswith("ll") and _measure(word) > 1:
        word = word[:-1]
    return word
