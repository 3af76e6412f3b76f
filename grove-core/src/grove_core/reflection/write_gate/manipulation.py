"""Texts that give orders to the agent that will read them, against its user or its rules."""

import re
from typing import Final

_QUOTED: Final = re.compile(r"`[^`\n]*`|\"[^\"\n]*\"|“[^”\n]*”")
_AUTHORITY: Final = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass) (?:all |any |the |your |every |of "
    r"|these )*(?:previous|prior"
    r"|above|earlier|preceding|existing|system|project's|other|safety"
    r"|user's) (?:\w+ )?(?:instructions?"
    r"|prompts?|rules?|messages?|guidelines?|directions?|context|polic(?:y|ies))\b"
    r"|\byou are now\b|\bsystem (?:prompt|note|message|override)\b|\bas (?:the )?highest rule\b"
    r"|\b(?:priority|precedence) over (?:all |any |the |every )?(?:other |previous |system )*"
    r"(?:instructions?|rules?|prompts?)\b|\b(?:granted|have|has) full access\b"
    r"|\b(?:all|any) (?:safety|permission) (?:checks?|prompts?) (?:are|is) (?:disabled|off"
    r"|waived)\b"
)
_SECRECY: Final = re.compile(
    r"\b(?:don't|do not|never|not|no need to|without) (?:tell|mention|inform|reveal|notify|alert"
    r"|disclose"
    r"|telling|mentioning|informing|revealing|notifying|report|reporting|show|showing)(?:ing)? "
    r"(?:\w+ ){0,3}(?:to )?(?:the |any |your )?(?:users?|humans?|operators?|developers?|anyone"
    r"|owner|person)\b"
    r"|\bwithout (?:asking|consulting|confirmation|approval|review|permission|the knowledge of)"
    r"(?: from| by| of)? (?:the |any |your )?(?:users?|humans?|operators?|developers?|anyone"
    r"|owner|maintainers?)\b"
    r"|\b(?:does not|doesn't|do not|don't) (?:want|need|have) to be (?:asked|told|informed)\b"
    r"|\bhide (?:this|it|that) from\b"
)
_EXFILTRATION: Final = re.compile(
    r"\b(?:send|post|upload|forward|leak|exfiltrate|append|attach|transmit"
    r"|copy) (?:[\w.'-]+ ){0,6}?"
    r"(?:env|\.env|environment variables?|secrets?|tokens?|credentials?|passwords?|api keys?"
    r"|ssh keys?|keys)\b"
)
_UPLOAD: Final = re.compile(
    r"\b(?:upload|send|post|forward|transmit|report)s? [^.\n]{0,60}?\b(?:to|at) "
    r"(?:https?://|\S{1,60}@|[\w-]{1,40}\.[\w-]{1,40}\.\w{2,6}\b)"
)
_FORBIDDEN: Final = re.compile(
    r"\b(?:never|don't|do not|must not|mustn't|cannot|can't|not allowed)\b"
)
_REMOTE_SCRIPT: Final = re.compile(r"\b(?:curl|wget)\b[^\n|]{1,200}\| ?(?:sudo )?(?:ba|z|da)?sh\b")
_ORDER: Final = re.compile(
    r"\b(?:agents?|assistants?|ai|llms?|claude|before (?:any|each|every) (?:task|session|commit))\b"
)
_AGENT: Final = re.compile(r"\b(?:agents?|assistants?|ai|llms?|claude)\b")
_PRETENCE: Final = re.compile(
    r"\b(?:report|claim|answer|say|pretend|mark|state|declare|approve) (?:[\w'-]+ ){1,8}?"
    r"(?:without (?:running|checking|reviewing|reading|verifying|asking)|are green|as (?:passed"
    r"|paid|approved))\b"
)


def commands_reader(text: str) -> bool:
    """Return whether a text gives orders to the agent that reads it."""
    whole = " ".join(text.lower().replace("’", "'").split())
    plain = " ".join(_QUOTED.sub(" … ", text).lower().replace("’", "'").split())
    if _REMOTE_SCRIPT.search(whole) and _ORDER.search(plain):
        return True
    if _UPLOAD.search(whole) and _AGENT.search(plain):
        return True
    if _AUTHORITY.search(plain) or _SECRECY.search(plain) or _PRETENCE.search(plain):
        return True
    sent = _EXFILTRATION.search(whole)
    return sent is not None and not _FORBIDDEN.search(whole[: sent.start()][-40:])
