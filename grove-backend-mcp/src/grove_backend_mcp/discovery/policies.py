"""What an administrator or the user does not want started."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from attrs import frozen

from grove_backend_mcp.discovery.client_files import ClientFiles, names_in
from grove_backend_mcp.servers import Origin, ServerEntry, Transport

_NAME: Final = "serverName"
_COMMAND: Final = "serverCommand"
_URL: Final = "serverUrl"

Rules = tuple[Mapping[str, Any], ...]


@frozen(kw_only=True)
class Policy:
    """Which servers are refused, whoever has registered them."""

    allowed: Rules | None = None
    denied: Rules = ()
    disabled_files: frozenset[str] = frozenset()
    disabled: frozenset[str] = frozenset()

    def refusal(self, entry: ServerEntry) -> str:
        """Tell why a server is refused."""
        if any(_fits(rule, entry) for rule in self.denied):
            return "denied by deniedMcpServers in the client's settings"
        if self.allowed is not None and not _is_allowed(self.allowed, entry):
            return "not among allowedMcpServers of the client's managed settings"
        if entry.origin is Origin.PROJECT and entry.name in self.disabled_files:
            return "rejected in the client (disabledMcpjsonServers)"
        if entry.name in self.disabled:
            return "switched off for this project in the client (disabledMcpServers)"
        return ""


def read_policy(files: ClientFiles, noted: Sequence[Mapping[str, Any]]) -> Policy:
    """Read what the client's files refuse."""
    managed, user = files.managed_settings(), files.user_settings()
    everywhere = [managed, user, *files.project_settings(), *noted]
    allowed = managed.get("allowedMcpServers")
    return Policy(
        allowed=tuple(_rules(managed, "allowedMcpServers")) if isinstance(allowed, list) else None,
        denied=(*_rules(managed, "deniedMcpServers"), *_rules(user, "deniedMcpServers")),
        disabled_files=_all_names(everywhere, "disabledMcpjsonServers"),
        disabled=_all_names(noted, "disabledMcpServers"),
    )


def _all_names(documents: Iterable[Mapping[str, Any]], key: str) -> frozenset[str]:
    return frozenset().union(*(names_in(one, key) for one in documents))


def _rules(document: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    value = document.get(key)
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _is_allowed(rules: Rules, entry: ServerEntry) -> bool:
    """Apply the client's rule: where commands or addresses are listed, a name is not enough."""
    kind = _URL if entry.transport is Transport.HTTP else _COMMAND
    narrower = tuple(rule for rule in rules if kind in rule)
    return any(_fits(rule, entry) for rule in narrower or rules)


def _fits(rule: Mapping[str, Any], entry: ServerEntry) -> bool:
    if _NAME in rule:
        return bool(rule[_NAME] == entry.name)
    if _COMMAND in rule:
        words = [entry.command, *entry.args]
        return entry.transport is Transport.STDIO and rule[_COMMAND] == words
    pattern = rule.get(_URL)
    if not isinstance(pattern, str) or entry.transport is not Transport.HTTP:
        return False
    parts = (re.escape(part) for part in pattern.split("*"))
    return re.fullmatch(".*".join(parts), entry.url) is not None
