"""The labelled candidates of `tests/data/lessons`, with made-up secrets filled in.

The files hold `{{secret:KIND}}` where a secret stands, because code hosts refuse a push that holds
one. `load` puts a value there that looks valid: right alphabet, length and checksum. It is derived
from the candidate's id, so that it is the same in every run, and it opens nothing.
"""

import base64
import hashlib
import json
import re
import string
import uuid
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal

from attrs import frozen

FOLDER: Final = Path(__file__).parent / "data" / "lessons"
PLACEHOLDER: Final = re.compile(r"\{\{secret:(?P<kind>[a-z0-9-]+)\}\}")
Part = Literal["development", "test", "training", "blind", "short", "authors", "orders"]

_ALNUM: Final = string.digits + string.ascii_uppercase + string.ascii_lowercase
_BASE64: Final = string.ascii_letters + string.digits + "+/"
_BASE64_URL: Final = string.ascii_letters + string.digits + "-_"
_HEX: Final = "0123456789abcdef"
_BECH32: Final = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_BECH32_POLYNOMIAL: Final = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)
_PASSWORD_WORDS: Final = "Amsel Birke Dachs Elster Fichte Hafen Kranich Linde Marder Nebel".split()


@frozen(kw_only=True)
class Labelled:
    """One candidate with what a person said about it."""

    id: str
    label: str
    kind: str
    why: str
    author: str
    candidate: dict[str, Any]
    secrets: tuple[str, ...]


def load(part: Part) -> list[Labelled]:
    """Read one part of the set."""
    return [_filled(line) for line in lines(part)]


def lines(part: Part) -> list[dict[str, Any]]:
    """Read one part as it is stored, placeholders and all."""
    text = (FOLDER / f"{part}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def secret(kind: str, seed: str) -> str:
    """Make up a secret."""
    return SECRETS[kind](_Letters(f"{kind}/{seed}"))


def _filled(item: Mapping[str, Any]) -> Labelled:
    made: list[str] = []

    def fill(found: re.Match[str]) -> str:
        made.append(secret(found["kind"], f"{item['id']}/{len(made)}"))
        return made[-1]

    def walk(value: Any) -> Any:
        if isinstance(value, str):
            return PLACEHOLDER.sub(fill, value)
        return [walk(entry) for entry in value]

    candidate = {name: walk(value) for name, value in item["candidate"].items()}
    return Labelled(
        id=item["id"],
        label=item["label"],
        kind=item["kind"],
        why=item.get("why", ""),
        author=item.get("author", ""),
        candidate=candidate,
        secrets=tuple(made),
    )


class _Letters:
    """An endless row of random-looking letters, always the same for one seed."""

    def __init__(self, seed: str) -> None:
        self._bytes = self._stream(seed)

    @staticmethod
    def _stream(seed: str) -> Iterator[int]:
        block = 0
        while True:
            yield from hashlib.sha256(f"{seed}/{block}".encode()).digest()
            block += 1

    def __call__(self, alphabet: str, length: int) -> str:
        return "".join(alphabet[next(self._bytes) % len(alphabet)] for _ in range(length))

    def raw(self, length: int) -> bytes:
        return bytes(next(self._bytes) for _ in range(length))


def _base64_url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _with_checksum(prefix: str, letters: _Letters) -> str:
    """GitHub's form, that npm has too: 30 letters and their CRC-32 as six of base 62."""
    body = letters(_ALNUM, 30)
    rest, digits = zlib.crc32(body.encode()), ""
    for _ in range(6):
        rest, digit = divmod(rest, 62)
        digits = _ALNUM[digit] + digits
    return prefix + body + digits


def _aws_secret(letters: _Letters) -> str:
    """A secret that holds a slash, for the text of one candidate says so."""
    return f"{letters(_BASE64, 11)}/{letters(_BASE64, 28)}"


def _pem(name: str, start: str, letters: _Letters, length: int, newline: str = "\n") -> str:
    body = start + letters(_BASE64, length - len(start) - 1) + "="
    rows = [body[at : at + 64] for at in range(0, length, 64)]
    return newline.join([f"-----BEGIN {name}-----", *rows, f"-----END {name}-----"])


def _rsa_key(letters: _Letters) -> str:
    return _pem("RSA PRIVATE KEY", "MIICXQIBAAKBgQC", letters, 812)


def _openssh_key(letters: _Letters) -> str:
    start = base64.b64encode(
        b"openssh-key-v1\0\0\0\0\4none\0\0\0\4none\0\0\0\0\0\0\0\1\0\0\0\x33\0\0\0\x0bssh-ed25519"
    )
    return _pem("OPENSSH PRIVATE KEY", start.decode().rstrip("=")[:-1], letters, 388)


def _service_account(letters: _Letters) -> str:
    project, number = "shop-reports-27", letters("123456789", 21)
    account = {
        "type": "service_account",
        "project_id": project,
        "private_key_id": letters(_HEX, 40),
        "private_key": _pem(
            "PRIVATE KEY", "MIICdQIBADANBgkqhkiG9w0BAQEFAASCAl8wggJbAgEAAoGB", letters, 848
        )
        + "\n",
        "client_email": f"export@{project}.iam.gserviceaccount.com",
        "client_id": number,
    }
    return json.dumps(account, indent=1)


def _jwt(letters: _Letters) -> str:
    header = {"alg": "RS256", "typ": "JWT", "kid": letters(_HEX, 8)}
    claims = {"sub": letters(string.digits, 10), "iss": "partner", "nbf": 1767312004}
    parts = [_base64_url(json.dumps(part).encode()) for part in (header, claims)]
    return ".".join([*parts, _base64_url(letters.raw(256))])


def _discord(letters: _Letters) -> str:
    user = letters("123456789", 18).encode()
    return f"{_base64_url(user)}.G{letters(_BASE64_URL, 5)}.{letters(_ALNUM, 27)}"


def _azure(letters: _Letters) -> str:
    key = base64.b64encode(letters.raw(64)).decode()
    return (
        f"DefaultEndpointsProtocol=https;AccountName=shopmedia{letters(string.digits, 3)};"
        f"AccountKey={key};EndpointSuffix=core.windows.net"
    )


def _slack_webhook(letters: _Letters) -> str:
    team, channel = (letters(string.ascii_uppercase + string.digits, 10) for _ in range(2))
    return f"https://hooks.slack.com/services/T{team}/B{channel}/{letters(_ALNUM, 24)}"


def _bech32_remainder(values: list[int]) -> int:
    remainder = 1
    for value in values:
        top = remainder >> 25
        remainder = (remainder & 0x1FFFFFF) << 5 ^ value
        for bit, factor in enumerate(_BECH32_POLYNOMIAL):
            remainder ^= factor if top >> bit & 1 else 0
    return remainder


def _age_key(letters: _Letters) -> str:
    """Bech32 of 32 bytes with its checksum, in capitals."""
    prefix = "age-secret-key-"
    # 256 bits are 51 letters and one bit; the four bits that fill the last letter are zero.
    data = [_BECH32.index(letter) for letter in letters(_BECH32, 51) + letters("qs", 1)]
    opened = [ord(c) >> 5 for c in prefix] + [0] + [ord(c) & 31 for c in prefix]
    checksum = _bech32_remainder(opened + data + [0] * 6) ^ 1
    values = data + [checksum >> 5 * (5 - n) & 31 for n in range(6)]
    return f"{prefix}1{''.join(_BECH32[value] for value in values)}".upper()


def _human_password(letters: _Letters) -> str:
    first, second = (_PASSWORD_WORDS[int(letters(string.digits, 1))] for _ in range(2))
    return f"{first}-{second}{letters(string.digits, 4)}!"


SECRETS: Final[Mapping[str, Callable[[_Letters], str]]] = {
    "age-secret-key": _age_key,
    "anthropic-key": lambda letters: f"sk-ant-api03-{letters(_BASE64_URL, 93)}AA",
    "aws-access-key-id": lambda letters: "AKIA" + letters(string.ascii_uppercase + "234567", 16),
    "aws-secret-access-key": _aws_secret,
    "azure-connection-string": _azure,
    "datadog-api-key": lambda letters: letters(_HEX, 32),
    "digitalocean-token": lambda letters: "dop_v1_" + letters(_HEX, 64),
    "discord-bot-token": _discord,
    "gcp-service-account-json": _service_account,
    "github-pat-classic": lambda letters: _with_checksum("ghp_", letters),
    "github-pat-fine-grained": lambda letters: (
        f"github_pat_11{letters(_ALNUM, 20)}_{letters(_ALNUM, 59)}"
    ),
    "gitlab-pat": lambda letters: "glpat-" + letters(_ALNUM, 20),
    "google-api-key": lambda letters: "AIzaSy" + letters(_ALNUM, 33),
    "heroku-api-key": lambda letters: str(uuid.UUID(bytes=letters.raw(16), version=4)),
    "huggingface-token": lambda letters: "hf_" + letters(string.ascii_letters, 34),
    "jwt": _jwt,
    "npm-token": lambda letters: _with_checksum("npm_", letters),
    "openai-key": lambda letters: f"sk-proj-{letters(_ALNUM, 74)}T3BlbkFJ{letters(_ALNUM, 74)}",
    "password-human": _human_password,
    "password-random": lambda letters: f"{letters(_ALNUM, 11)}-{letters(_ALNUM, 8)}7x",
    "private-key-openssh": _openssh_key,
    "private-key-rsa": _rsa_key,
    "pypi-token": lambda letters: "pypi-AgEIcHlwaS5vcmcCJ" + letters(_BASE64_URL, 158),
    "sendgrid-key": lambda letters: f"SG.{letters(_BASE64_URL, 22)}.{letters(_BASE64_URL, 43)}",
    "slack-bot-token": lambda letters: (
        f"xoxb-{letters('123456789', 12)}-{letters('123456789', 13)}-{letters(_ALNUM, 24)}"
    ),
    "slack-webhook-url": _slack_webhook,
    "stripe-live-key": lambda letters: "sk_live_51" + letters(_ALNUM, 97),
    "telegram-bot-token": lambda letters: (
        f"{letters('123456789', 10)}:AA{letters(_BASE64_URL, 33)}"
    ),
    "token-generic": lambda letters: letters(_ALNUM, 40),
    "twilio-account-sid": lambda letters: "AC" + letters(_HEX, 32),
    "twilio-auth-token": lambda letters: letters(_HEX, 32),
    "vault-service-token": lambda letters: "hvs.CAESI" + letters(_BASE64_URL, 86),
}
