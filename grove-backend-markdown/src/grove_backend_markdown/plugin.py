"""What grove learns from this plugin; everything else is imported when it is used."""

from collections.abc import Sequence

from grove_core import (
    Area,
    BackendContext,
    BackendSpec,
    Detection,
    MemoryBackend,
    Repair,
    hookimpl,
)

grove_api = 2


@hookimpl
def grove_memory_backends() -> Sequence[BackendSpec]:
    """Offer the markdown backend."""
    return [
        BackendSpec(
            name="markdown",
            detect=_detect,
            open=_open,
            paths=(".grove",),
            shared=(".grove/learnings.md", ".grove/learnings/*.md"),
            relocate=_relocate,
            repair=_repair,
        ),
    ]


def _detect(context: BackendContext) -> Detection:
    """Be available everywhere: this is the backend that grove falls back to."""
    from grove_backend_markdown.places import PROJECT_FILE, PROJECT_FOLDER, file_of, is_spread

    spread = is_spread(context)
    path = context.root / PROJECT_FOLDER if spread else file_of(context)
    in_project = PROJECT_FOLDER if spread else PROJECT_FILE
    return Detection(
        marker=str(path) if context.area is Area.PERSONAL else in_project,
        note="" if path.exists() else "the first learning creates it",
    )


def _open(context: BackendContext) -> MemoryBackend:
    from grove_backend_markdown.backend import MarkdownBackend

    return MarkdownBackend(context)


def _relocate(context: BackendContext, dry_run: bool) -> Sequence[str]:  # noqa: FBT001 - a protocol
    from grove_backend_markdown.migrate import relocate

    return relocate(context, dry_run=dry_run)


def _repair(context: BackendContext) -> Sequence[Repair]:
    from grove_backend_markdown.repair import repairs

    return repairs(context)
