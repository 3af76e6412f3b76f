"""The labelled set of candidate learnings is what its README says."""

import json
import re
import zlib
from collections import Counter
from difflib import SequenceMatcher
from itertools import combinations

import pytest
from lessons import FOLDER, PLACEHOLDER, SECRETS, half_of, lines, load, secret

from grove_core.reflection.schema import ReadCandidate, read_candidate

HALVES = ("development", "test")
KEYS = ["id", "label", "kind", "why", "candidate"]
CANDIDATE_KEYS = [
    "category",
    "summary",
    "detail",
    "tags",
    "criteria_met",
    "scope",
    "confidence",
    "context_files",
]
STORED = [item for half in HALVES for item in lines(half)]
LOADED = [item for half in HALVES for item in load(half)]

# What detectors look for, in short: a value that did not match would prove nothing about a gate.
SHAPES = {
    "age-secret-key": r"AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}",
    "anthropic-key": r"sk-ant-api03-[\w-]{93}AA",
    "aws-access-key-id": r"AKIA[A-Z2-7]{16}",
    "aws-secret-access-key": r"[A-Za-z0-9+/]{40}",
    "azure-connection-string": r".*AccountKey=[A-Za-z0-9+/]{86}==;.*",
    "datadog-api-key": r"[0-9a-f]{32}",
    "digitalocean-token": r"dop_v1_[0-9a-f]{64}",
    "discord-bot-token": r"[MNO][\w-]{23}\.[\w-]{6}\.[\w-]{27}",
    "gcp-service-account-json": r'(?s)\{.*"private_key": "-----BEGIN PRIVATE KEY-----\\n.*\}',
    "github-pat-classic": r"ghp_[A-Za-z0-9]{36}",
    "github-pat-fine-grained": r"github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}",
    "gitlab-pat": r"glpat-[\w-]{20}",
    "google-api-key": r"AIza[\w-]{35}",
    "heroku-api-key": r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",
    "huggingface-token": r"hf_[A-Za-z]{34}",
    "jwt": r"eyJ[\w-]+\.eyJ[\w-]+\.[\w-]{342}",
    "npm-token": r"npm_[A-Za-z0-9]{36}",
    "openai-key": r"sk-proj-[\w-]{74}T3BlbkFJ[\w-]{74}",
    "password-human": r"[A-Z][a-z]+-[A-Z][a-z]+\d{4}!",
    "password-random": r"[A-Za-z0-9]{11}-[A-Za-z0-9]{10}",
    "private-key-openssh": r"-----BEGIN OPENSSH PRIVATE KEY-----\n[\s\S]+\n-----END .+-----",
    "private-key-rsa": r"-----BEGIN RSA PRIVATE KEY-----\n[\s\S]+\n-----END .+-----",
    "pypi-token": r"pypi-AgEIcHlwaS5vcmc[\w-]{50,}",
    "sendgrid-key": r"SG\.[\w-]{22}\.[\w-]{43}",
    "slack-bot-token": r"xoxb-\d{12}-\d{13}-[A-Za-z0-9]{24}",
    "slack-webhook-url": r"https://hooks\.slack\.com/services/T\w{10}/B\w{10}/\w{24}",
    "stripe-live-key": r"sk_live_[A-Za-z0-9]{99}",
    "telegram-bot-token": r"\d{10}:AA[\w-]{33}",
    "token-generic": r"[A-Za-z0-9]{40}",
    "twilio-account-sid": r"AC[0-9a-f]{32}",
    "twilio-auth-token": r"[0-9a-f]{32}",
    "vault-service-token": r"hvs\.[\w-]{90,}",
}


def text_of(candidate):
    return f"{candidate['summary']}\n{candidate['detail']}"


@pytest.mark.parametrize("half", HALVES)
def test_a_line_is_one_object_with_its_keys_in_order(half):
    for item in lines(half):
        assert list(item) == KEYS
        assert list(item["candidate"]) == CANDIDATE_KEYS
        assert item["id"].startswith(item["label"] + "-")
        assert item["why"].endswith(".")


@pytest.mark.parametrize("item", LOADED, ids=lambda item: item.id)
def test_a_candidate_is_accepted_by_the_schema_as_it_stands(item):
    read = read_candidate(item.candidate)
    assert isinstance(read, ReadCandidate), read.reason
    assert read.notes == ()


def test_there_are_enough_and_as_many_to_keep_as_to_reject():
    assert len({item["id"] for item in STORED}) == len(STORED) >= 320
    for half in HALVES:
        labels = Counter(item["label"] for item in lines(half))
        assert labels["keep"] == labels["reject"] == len(STORED) / 4


def test_the_split_follows_the_rule_and_hits_every_kind():
    rule = half_of(STORED)
    for half in HALVES:
        assert {item["id"] for item in lines(half)} == {
            name for name, of in rule.items() if of == half
        }
    kinds = [Counter(item["kind"] for item in lines(half)) for half in HALVES]
    assert all(abs(kinds[0][kind] - kinds[1][kind]) <= 1 for kind in kinds[0] | kinds[1])


def test_secrets_stand_in_the_candidates_of_that_kind_and_only_there():
    holding = {item.id for item in LOADED if item.secrets}
    assert holding == {item.id for item in LOADED if item.kind == "secret"}
    assert len(holding) >= 30
    for item in LOADED:
        assert "{{secret" not in json.dumps(item.candidate)
        shown = [value for field in item.candidate.values() for value in _texts(field)]
        assert all(any(value in text for text in shown) for value in item.secrets)


def test_no_secret_is_written_out_in_the_files():
    stored = "".join((FOLDER / f"{half}.jsonl").read_text() for half in HALVES)
    own_marks = re.compile(r"AKIA|ghp_|glpat-|xox[bp]-|sk_live_|PRIVATE KEY|hooks\.slack\.com")
    assert own_marks.findall(stored) == []


def test_the_same_secrets_are_made_each_time_and_no_two_are_equal():
    again = [item for half in HALVES for item in load(half)]
    assert again == LOADED
    values = [value for item in LOADED for value in item.secrets]
    assert len(set(values)) == len(values)


def test_every_kind_of_secret_is_used():
    used = {kind for item in STORED for kind in PLACEHOLDER.findall(json.dumps(item))}
    assert used == set(SECRETS) == set(SHAPES)


@pytest.mark.parametrize("kind", SHAPES)
def test_a_secret_has_the_shape_of_its_kind(kind):
    for seed in ("a", "b", "c"):
        assert re.fullmatch(SHAPES[kind], secret(kind, seed))


@pytest.mark.parametrize("kind", ["github-pat-classic", "npm-token"])
def test_a_token_with_a_checksum_has_the_right_one(kind):
    letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    body, checksum = secret(kind, "x")[4:34], secret(kind, "x")[34:]
    value = 0
    for letter in checksum:
        value = value * 62 + letters.index(letter)
    assert value == zlib.crc32(body.encode())


def test_no_two_candidates_say_the_same():
    words = [set(re.findall(r"\w{4,}", text_of(item.candidate).lower())) for item in LOADED]
    alike = [
        (LOADED[i].id, LOADED[j].id)
        for i, j in combinations(range(len(LOADED)), 2)
        if len(words[i] & words[j]) > 0.4 * min(len(words[i]), len(words[j]))
    ]
    close = [
        pair
        for pair in alike
        if SequenceMatcher(
            None, *(text_of(item.candidate) for item in LOADED if item.id in pair)
        ).ratio()
        > 0.6
    ]
    assert close == []


def test_the_readme_tells_the_counts():
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    counted = Counter(
        (item["kind"], item["label"], half) for half in HALVES for item in lines(half)
    )
    for kind, label in {(kind, label) for kind, label, _ in counted}:
        first, second = (counted[kind, label, half] for half in HALVES)
        assert f"| {kind} | {label} | {first} | {second} | {first + second} |" in readme


def _texts(field):
    return [field] if isinstance(field, str) else field
