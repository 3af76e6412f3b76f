"""The detector: the rules of detect-secrets, and grove's additions through its plugin interface."""

import re
import warnings
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

from grove_core.reflection.secrets.encodings import base64_texts, without_escapes
from grove_core.reflection.secrets.formats import DOCUMENTED_FORMATS
from grove_core.reflection.secrets.plausibility import is_placeholder
from grove_core.reflection.secrets.surroundings import (
    Hit,
    find_by_surroundings,
    find_over_lines,
)

with warnings.catch_warnings():
    # requests complains about versions of what it stands on; nothing of it is used here.
    warnings.simplefilter("ignore")
    from detect_secrets.plugins.artifactory import ArtifactoryDetector
    from detect_secrets.plugins.aws import AWSKeyDetector
    from detect_secrets.plugins.azure_storage_key import AzureStorageKeyDetector
    from detect_secrets.plugins.base import BasePlugin, RegexBasedDetector
    from detect_secrets.plugins.cloudant import CloudantDetector
    from detect_secrets.plugins.discord import DiscordBotTokenDetector
    from detect_secrets.plugins.github_token import GitHubTokenDetector
    from detect_secrets.plugins.gitlab_token import GitLabTokenDetector
    from detect_secrets.plugins.ibm_cloud_iam import IbmCloudIamDetector
    from detect_secrets.plugins.ibm_cos_hmac import IbmCosHmacDetector
    from detect_secrets.plugins.jwt import JwtTokenDetector
    from detect_secrets.plugins.mailchimp import MailchimpDetector
    from detect_secrets.plugins.npm import NpmDetector
    from detect_secrets.plugins.openai import OpenAIDetector
    from detect_secrets.plugins.pypi_token import PypiTokenDetector
    from detect_secrets.plugins.sendgrid import SendGridDetector
    from detect_secrets.plugins.slack import SlackDetector
    from detect_secrets.plugins.softlayer import SoftlayerDetector
    from detect_secrets.plugins.square_oauth import SquareOAuthDetector
    from detect_secrets.plugins.stripe import StripeDetector
    from detect_secrets.plugins.telegram_token import TelegramBotTokenDetector
    from detect_secrets.plugins.twilio import TwilioKeyDetector

# Some rules of the detector try every start against every end: long lines are cut, with overlap.
_WINDOW: Final = 2_000
_OVERLAP: Final = 600
_EXAMPLE: Final = re.compile(r"EXAMPLE|(.)\1{9,}", re.IGNORECASE)
# Lines of base64 after the head of a key, as they are, escaped in JSON, quoted, commented out or
# with line numbers; a head alone is prose. No two alternatives start alike, so nothing is retried.
_PRIVATE_KEY: Final = re.compile(
    r"BEGIN (?:[A-Z0-9]{1,10} ){0,3}PRIVATE KEY(?: BLOCK)?-{2,5}"
    r"(?:\\{1,4}[nr]|[^A-Za-z0-9+/=\\]|[+/]{1,3}\s|\d{1,6}[\s|:.)]|"
    r"[A-Za-z][\w-]{0,29}: [^\n]{0,80}\n"
    r"){0,60}(?P<body>[A-Za-z0-9+/=]{24,})"
    r"|PuTTY-User-Key-File-\d[\s\S]{0,400}?Private-Lines: \d+\s+(?P<putty>[A-Za-z0-9+/=]{24,})"
)


class DocumentedFormat(RegexBasedDetector):
    """A rule for one provider's documented form of tokens."""

    secret_type = "documented format"  # noqa: S105 - the name of a rule
    denylist: Sequence[re.Pattern[str]] = ()

    def __init__(self, kind: str, pattern: str) -> None:
        self.secret_type = kind
        self.denylist = (re.compile(pattern),)


@cache
def _plugins() -> tuple[BasePlugin, ...]:
    theirs: tuple[type[BasePlugin], ...] = (
        AWSKeyDetector,
        ArtifactoryDetector,
        AzureStorageKeyDetector,
        CloudantDetector,
        DiscordBotTokenDetector,
        GitHubTokenDetector,
        GitLabTokenDetector,
        IbmCloudIamDetector,
        IbmCosHmacDetector,
        JwtTokenDetector,
        MailchimpDetector,
        NpmDetector,
        OpenAIDetector,
        PypiTokenDetector,
        SendGridDetector,
        SlackDetector,
        SoftlayerDetector,
        SquareOAuthDetector,
        StripeDetector,
        TelegramBotTokenDetector,
        TwilioKeyDetector,
    )
    ours = [DocumentedFormat(kind, pattern) for kind, pattern in DOCUMENTED_FORMATS]
    return (*ours, *(plugin() for plugin in theirs))


def detect(text: str) -> Iterator[Hit]:
    """Find everything in a text that is or holds a secret."""
    yield from _detect_plain(text)
    as_read = without_escapes(text)
    if as_read is not None:
        whole, places = as_read
        for kind, start, end in _detect_plain(whole):
            yield kind, places[start], places[end]
    for decoded, start, end in base64_texts(text):
        for kind, _, _ in _detect_plain(decoded):
            yield f"{kind} in base64", start, end
            break


def _detect_plain(text: str) -> Iterator[Hit]:
    for match in _PRIVATE_KEY.finditer(text):
        yield "private key", match.start(), match.end()
    yield from find_over_lines(text)
    for start, window in _windows(text):
        for plugin in _plugins():
            for value in set(plugin.analyze_string(window)):
                if _is_plausible(plugin, value):
                    at = start + window.find(value)
                    yield plugin.secret_type, at, at + len(value)
        for kind, at, end in find_by_surroundings(window):
            yield kind, start + at, start + end


def _windows(text: str) -> Iterator[tuple[int, str]]:
    """Return the lines with their places, long ones in pieces."""
    start = 0
    for line in text.split("\n"):
        for at in range(0, max(len(line) - _OVERLAP, 1), _WINDOW - _OVERLAP):
            yield start + at, line[at : at + _WINDOW]
        start += len(line) + 1


def _is_plausible(plugin: BasePlugin, value: str) -> bool:
    """Leave out what a rule has found and is no secret all the same."""
    if _EXAMPLE.search(value):
        return False
    if isinstance(plugin, DocumentedFormat):
        return True
    return not is_placeholder(value) and any(character.isdigit() for character in value)
