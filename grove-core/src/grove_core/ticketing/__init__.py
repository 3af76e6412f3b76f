"""The ticket systems of a project: which are used, what is in progress, what a call closes."""

from grove_core.ticketing.participation import TicketSystem
from grove_core.ticketing.systems import TicketSystems

__all__ = ["TicketSystem", "TicketSystems"]
