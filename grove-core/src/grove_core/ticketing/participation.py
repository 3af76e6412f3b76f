"""Which ticket systems take part in a project, and which one is the active one. Pure."""

from collections.abc import Mapping, Sequence

from grove_core.model.memory import Detection
from grove_core.model.value import Value, frozen
from grove_core.plugins.descriptors import Participation, TicketProbe
from grove_core.plugins.facade import Provided


@frozen(kw_only=True, eq=False, repr=False)
class TicketSystem(Value):
    """A ticket system and how it stands to a project."""

    provided: Provided[TicketProbe]
    detection: Detection | None
    is_active: bool
    takes_part: bool
    why: str

    @property
    def probe(self) -> TicketProbe:
        """The probe."""
        return self.provided.value


@frozen(kw_only=True, eq=False, repr=False)
class ParticipationRules(Value):
    """What decides about taking part, besides what was found."""

    initialised: bool
    overrides: Mapping[str, bool]
    listed: Sequence[str] = ()

    def switched_on(self, probe: TicketProbe) -> bool:
        """Return whether the configuration turns a system on."""
        return self.overrides.get(probe.name) is True

    def may_ever_count(self, probe: TicketProbe) -> bool:
        """Return whether a system's closes could count anywhere under this configuration."""
        return probe.participation is not Participation.ENABLED or self.switched_on(probe)

    def may_be_active(self, probe: TicketProbe) -> bool:
        """Return whether a system may be the active one: what takes part nowhere is in no way."""
        if probe.participation is Participation.DETECTED or self.switched_on(probe):
            return True
        return probe.participation is Participation.ACTIVE and self.initialised


def judge(
    found: Sequence[tuple[Provided[TicketProbe], Detection | None]], rules: ParticipationRules
) -> Sequence[TicketSystem]:
    """Decide how each ticket system stands to a project."""
    last = _makeshifts_at_the_end(found, rules.listed)
    by_precedence = sorted(found, key=lambda each: each[0].value.name in last)
    active = next(
        (
            provided
            for provided, detection in by_precedence
            if detection is not None and detection.usable and rules.may_be_active(provided.value)
        ),
        None,
    )
    return [
        _judge(provided, detection, rules, is_active=provided is active)
        for provided, detection in by_precedence
    ]


def _makeshifts_at_the_end(
    found: Sequence[tuple[Provided[TicketProbe], Detection | None]], listed: Sequence[str]
) -> frozenset[str]:
    names = {name.partition("@")[0] for name in listed}
    last: set[str] = set()
    for provided, _ in reversed(found):
        if _is_makeshift(provided.value):
            last.add(provided.value.name)
        elif provided.value.name in names:
            break
    return frozenset(last)


def _is_makeshift(probe: TicketProbe) -> bool:
    return probe.per_session or probe.participation is Participation.ACTIVE


def _judge(
    provided: Provided[TicketProbe],
    detection: Detection | None,
    rules: ParticipationRules,
    *,
    is_active: bool,
) -> TicketSystem:
    takes_part, why = _participation(provided.value, detection, rules, is_active=is_active)
    return TicketSystem(
        provided=provided,
        detection=detection,
        is_active=is_active,
        takes_part=takes_part,
        why=why,
    )


def _participation(
    probe: TicketProbe, detection: Detection | None, rules: ParticipationRules, *, is_active: bool
) -> tuple[bool, str]:
    key = f"ticketing.overrides.{probe.name}"
    takes_part = False
    if not rules.may_ever_count(probe):
        why = f"off unless {key} = true"
    elif detection is None:
        why = "not used in this project"
    elif not detection.usable:
        why = detection.note or "cannot be used here"
    elif probe.per_session and not is_active:
        why = "not needed: another system is active"
    elif rules.switched_on(probe):
        takes_part, why = True, f"switched on by {key}"
    elif probe.participation is Participation.ACTIVE and not is_active:
        why = "takes part only as the active system of an initialised project"
    else:
        takes_part, why = True, detection.note or f"found {detection.marker}"
    return takes_part, why
