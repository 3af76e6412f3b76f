"""What some lines of an event log add up to, before it goes to the cache. No I/O, no clock."""

from collections import Counter

from grove_core.stats.fingerprints import fingerprint
from grove_core.stats.log_lines import EventLine

# typing.TYPE_CHECKING, without the import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MICROSECONDS_A_DAY = 86_400_000_000
SURFACED, REFERENCED, DISMISSED = range(3)
USES = {"surfaced": SURFACED, "referenced": REFERENCED, "dismissed": DISMISSED}
"""Events of which a repeat changes nothing."""

OF_LEARNINGS = frozenset((*USES, "corrected", "rated", "archived", "restored"))
"""Events about one learning each; the others are about reflections."""

_CORRECTED, _USEFUL, _USELESS = range(3)
_WRITE_GATE = "write_gate"


def key_of(name: str) -> int:
    """Stand for a learning's id, a session's id or the like."""
    return fingerprint(name.encode("utf-8", "surrogatepass"))


class Batch:
    """The sums of some lines."""

    def __init__(self) -> None:
        """Hold nothing yet."""
        self.events = 0
        self.names: dict[int, str] = {}
        self.uses: dict[tuple[int, int], list[int | None]] = {}
        self.latest: dict[tuple[int, int], int] = {}
        self.restored: dict[int, int] = {}
        self.marks: dict[int, list[int]] = {}
        self.used_for: dict[tuple[int, str], int] = {}
        self.counters: Counter[tuple[str, int]] = Counter()
        self.skipped: dict[str, int] = {}
        self.accepted: dict[str, int] = {}
        self.rejected: list[tuple[int, str, str, str]] = []
        self.corrections: list[tuple[int, int, str]] = []
        self._keys: dict[str, int] = {}
        self._learnings: dict[str, int] = {}

    def add(self, line: EventLine) -> None:
        """Add an event that counts once."""
        _ADDERS[line.event](self, line)

    def add_use(self, line: EventLine) -> None:
        """Add that a learning was shown, used or dismissed; added again, it changes nothing."""
        use = USES[line.event]
        fields, moment = line.fields, line.moment
        # Looked up here, for they are most of what a log holds.
        name, session = fields["learning_id"], fields["session_id"]
        learning = self._learnings.get(name) or self._learning(name)
        pair = (learning, self._keys.get(session) or self._key(session))
        first = self.uses.get(pair)
        if first is None:
            first = self.uses[pair] = [None, None, None]
        known = first[use]
        if known is None or moment < known:
            first[use] = moment
        if use == DISMISSED:
            return
        latest = self.latest.get((learning, use))
        if latest is None or moment > latest:
            self.latest[learning, use] = moment
        if use == REFERENCED:
            ticket = fields.get("ticket_id")
            if ticket:
                pair_of_ticket = (learning, storable(ticket))
                earliest = self.used_for.get(pair_of_ticket, moment)
                self.used_for[pair_of_ticket] = min(moment, earliest)

    def _add_correction(self, line: EventLine) -> None:
        learning = self._learning(line.fields["learning_id"])
        self._mark(learning, _CORRECTED)
        successor = line.fields.get("superseded_by") or ""
        self.corrections.append((learning, line.moment, storable(successor)))

    def _add_rating(self, line: EventLine) -> None:
        learning = self._learning(line.fields["learning_id"])
        self._mark(learning, _USEFUL if line.fields["useful"] else _USELESS)

    def _add_restoring(self, line: EventLine) -> None:
        learning = self._learning(line.fields["learning_id"])
        self.restored[learning] = max(line.moment, self.restored.get(learning, line.moment))

    def _add_archiving(self, line: EventLine) -> None:
        self._learning(line.fields["learning_id"])

    def _add_reflection(self, line: EventLine) -> None:
        fields = line.fields
        # What a log says is believed no further than it makes sense.
        candidates = max(0, fields["candidates"])
        accepted = min(max(0, fields["accepted"]), candidates)
        self.count("submissions", line)
        self.count("candidates", line, candidates)
        self.count("accepted", line, accepted)
        if accepted > 0:
            self.count("completed", line)
            if fields.get("backend"):
                self.count(f"backend:{storable(fields['backend'])}", line)
            if ticket := fields.get("ticket_id"):
                _keep(self.accepted, storable(ticket), line.moment, max)

    def _add_rejection(self, line: EventLine) -> None:
        fields = line.fields
        stage = fields.get("stage") or "schema"
        self.count(f"rejected:{storable(stage)}", line)
        # Of others' refusals the texts are not published.
        if stage == _WRITE_GATE and fields["summary"]:
            texts = (fields["session_id"], fields["summary"], " ".join(fields.get("tags", ())))
            session, summary, tags = map(storable, texts)
            self.rejected.append((line.moment, session, summary, tags))

    def _add_skip(self, line: EventLine) -> None:
        self.count(f"skip:{storable(line.fields['decider'])}", line)
        if ticket := line.fields.get("ticket_id"):
            _keep(self.skipped, storable(ticket), line.moment, min)

    def _add_gate_cycle(self, line: EventLine) -> None:
        outcome = line.fields["outcome"]
        self.count(f"gate:{storable(outcome)}", line)
        if line.fields.get("blocks", 0) > 0:
            self.count("blocked", line)
            if outcome == "reflected":
                self.count("blocked_and_reflected", line)

    def count(self, name: str, line: EventLine, number: int = 1) -> None:
        """Add to a counter, on the day of an event."""
        self.counters[name, line.moment // MICROSECONDS_A_DAY] += number

    def _mark(self, learning: int, which: int) -> None:
        marks = self.marks.setdefault(learning, [0, 0, 0])
        marks[which] += 1

    def _learning(self, name: str) -> int:
        learning = self._learnings.get(name)
        if learning is None:
            learning = self._learnings[name] = key_of(name)
            self.names[learning] = storable(name)
        return learning

    def _key(self, name: str) -> int:
        key = self._keys[name] = key_of(name)
        return key


def _keep(
    moments: dict[str, int], name: str, moment: int, choose: "Callable[[int, int], int]"
) -> None:
    moments[name] = choose(moment, moments.get(name, moment))


def storable(text: str) -> str:
    """Replace half a surrogate pair, which JSON can hold and no file can."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


_ADDERS: "Mapping[str, Callable[[Batch, EventLine], None]]" = {
    "corrected": Batch._add_correction,  # noqa: SLF001 - the class's own table
    "rated": Batch._add_rating,  # noqa: SLF001
    "restored": Batch._add_restoring,  # noqa: SLF001
    "archived": Batch._add_archiving,  # noqa: SLF001
    "reflection": Batch._add_reflection,  # noqa: SLF001
    "rejected": Batch._add_rejection,  # noqa: SLF001
    "skip": Batch._add_skip,  # noqa: SLF001
    "gate": Batch._add_gate_cycle,  # noqa: SLF001
}
