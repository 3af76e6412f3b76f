"""The limits of a submission and of the learnings in it, in one place."""

from typing import Final

from attrs import fields

from grove_core.model.learning import Candidate

SUBMISSION_BYTES_MAX: Final = 1024 * 1024
# Each is compared with everything that is stored, while other sessions wait.
CANDIDATES_MAX: Final = 50

SUMMARY_LENGTH_MIN: Final = 10
SUMMARY_LENGTH_MAX: Final = 200
DETAIL_LENGTH_MIN: Final = 20
DETAIL_LENGTH_MAX: Final = 2000
TAGS_MIN: Final = 1
TAGS_MAX: Final = 10
CRITERIA_MIN: Final = 1
NOTHING_LEARNED_LENGTH_MIN: Final = 10

# Without these bounds one learning could flood every later session.
TAG_LENGTH_MAX: Final = 50
PATH_LENGTH_MAX: Final = 500
CONTEXT_FILES_MAX: Final = 50
SUPERSEDES_MAX: Final = 50
# For a remark that goes into one line of the event log: ``how``, ``why``, the reason of a skip.
REMARK_LENGTH_MAX: Final = 500

CANDIDATE_FIELDS: Final = tuple(attribute.name for attribute in fields(Candidate))
