"""Ticket systems with one fault each, by the call of the standard test that is to find it.

They are made of a sound one, which keeps its tickets in ``.tracker/tickets.json``;
``tracker done T-1 T-2`` closes them.
"""

import json
import re
import shlex
from contextlib import suppress
from itertools import count, dropwhile

from attrs import evolve
from faults import but

from grove_core.model.memory import Detection
from grove_core.model.ticket import Confirmation, Ticket, TicketClose
from grove_core.plugins.descriptors import CloseMatcher, TicketProbe

SYSTEM, FILE = "tracker", ".tracker/tickets.json"
CLOSES = (("tracker done T-1", ["T-1"]), ("tracker done T-1 T-2", ["T-1", "T-2"]))
LEAVES = ("tracker list", "tracker show T-1")
LONGEST = 128 * 1024  # what Linux takes as one argument, so that no shell runs more
HERE_DOCUMENT = re.compile(r"<<-?\s*(['\"]?)(\w+)\1.*?\n\2(?=\n|\Z)", re.DOTALL)


class SoundTracker:
    """What keeps the contract."""

    def grove_ticket_probes(self):
        return [
            TicketProbe(
                name=SYSTEM,
                detect=self.detect,
                current_ticket=self.current_ticket,
            )
        ]

    def grove_close_matchers(self):
        return [
            CloseMatcher(
                system=SYSTEM,
                literals=("tracker",),
                tools=("Bash",),
                match=self.match,
                confirm=self.confirm,
            )
        ]

    def detect(self, context):
        path = context.root / FILE
        return Detection(marker=str(path)) if path.is_file() else None

    def current_ticket(self, context):
        try:
            is_file = (context.root / FILE).is_file()
            tickets = json.loads((context.root / FILE).read_text()) if is_file else {}
        except (OSError, ValueError, RecursionError):
            return None
        current = tickets.get("current") if isinstance(tickets, dict) else None
        return Ticket(ticket_id=current, source=SYSTEM) if isinstance(current, str) else None

    def match(self, call, context):
        return [
            TicketClose(system=SYSTEM, ticket_id=one)
            for words in self.commands(call)
            if words[:2] == ["tracker", "done"]
            for one in words[2:]
        ]

    def commands(self, call):
        """Divide the text into commands, and them into words."""
        text = call.input.get("command")
        if not isinstance(text, str) or len(text) > LONGEST:
            return
        lexer = shlex.shlex(HERE_DOCUMENT.sub("", text), posix=True, punctuation_chars=";&|()\n")
        lexer.whitespace = " \t\r"
        words = []
        # A quote that never closes: no shell would run it.
        with suppress(ValueError):
            for token in [*lexer, ";"]:
                if set(token) <= set(";&|()\n"):
                    yield [*dropwhile(re.compile(r"\w+=").match, words)]
                    words = []
                else:
                    words.append(token)

    def confirm(self, close, result, context):
        failed = result is not None and not result.succeeded
        return Confirmation.NO if failed else Confirmation.UNKNOWN


def tracker(**methods):
    return but(SoundTracker, **methods)


def offering(hook, **fields):
    """Make a tracker whose descriptors of one hook have other fields."""
    return tracker(**{hook: lambda me, sound: [evolve(one, **fields) for one in sound()]})


def writes_down_what_it_sees(me, sound, context):
    (context.root / "seen").write_text("seen")
    return sound(context)


def waits_for_its_file(me, sound, context):
    with suppress(OSError):
        (context.root / FILE).read_bytes()
    return sound(context)


def finds_words_anywhere(me, sound, call):
    found = re.findall(r"tracker done[\w -]*", str(call.input.get("command")))
    return [text.split() for text in found]


def fails_at_many_words(me, sound, call):
    if len(str(call.input.get("command")).split()) > 3:
        raise RuntimeError("nobody knows")
    return sound(call)


def fails_at_quotes(me, sound, call):
    shlex.split(str(call.input.get("command")))
    return sound(call)


def takes_each_command_for_a_close(me, sound, call, context):
    commands = [words for words in me.commands(call) if words[:1] == ["tracker"]]
    return [TicketClose(system=SYSTEM, ticket_id=one) for words in commands for one in words[2:]]


NUMBERS = count()
PROBES, MATCHERS = "grove_ticket_probes", "grove_close_matchers"
BROKEN_TRACKERS = [
    ("test_system_is_offered", offering(MATCHERS, literals="tracker")),
    (
        "test_empty_project_is_not_detected",
        tracker(detect=lambda me, sound, context: Detection(marker=str(context.root))),
    ),
    ("test_used_project_is_detected", tracker(detect=lambda me, sound, context: True)),
    ("test_used_project_is_detected", tracker(detect=writes_down_what_it_sees)),
    ("test_damaged_project_is_no_error[a pipe]", tracker(current_ticket=waits_for_its_file)),
    (
        "test_current_ticket_is_a_ticket",
        tracker(current_ticket=lambda me, sound, context: evolve(sound(context), source="other")),
    ),
    ("test_no_text_is_an_error[operators alone]", tracker(commands=fails_at_many_words)),
    ("test_mentioning_is_not_closing", tracker(commands=finds_words_anywhere)),
    (
        "test_commands_among_others_still_close",
        tracker(commands=lambda me, sound, call: [*sound(call)][:1]),
    ),
    ("test_calls_close_what_they_say", offering(MATCHERS, literals=("tracker end",))),
    (
        "test_no_input_is_an_error[no field]",
        tracker(commands=lambda me, sound, call: sound(call) if call.input["command"] else ()),
    ),
    ("test_no_text_is_an_error[a lone quote]", tracker(commands=fails_at_quotes)),
    ("test_other_calls_close_nothing", tracker(match=takes_each_command_for_a_close)),
    ("test_every_result_has_an_answer[a failure]", tracker(confirm=lambda *_: Confirmation.YES)),
]
