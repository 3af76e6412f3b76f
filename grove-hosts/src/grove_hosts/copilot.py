"""GitHub Copilot CLI: Claude Code's names of events, and answers and results of its own."""

import hashlib
import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from grove_core import (
    CONTEXT_LIMIT,
    CheckResult,
    HookAnswer,
    HookEvent,
    HookInput,
    HookReply,
    HostAbilities,
    HostContext,
    HostSetup,
    HostSpec,
    Registration,
    StartSource,
    Status,
    ToolCall,
    ToolResult,
    hookimpl,
)
from grove_hosts import settings
from grove_hosts.payloads import (
    EVENTS,
    USUAL_EVENTS,
    directory,
    get,
    hook_input,
    path,
    session_id_of,
    text,
    transcript_lines,
)
from grove_hosts.skills import shared_skill

grove_api = 2

NAME: Final = "copilot"
# Only tools of MCP servers have a hyphen in their names: `server-tool`.
_TOOLS: Final = ("Bash", ".+-.+")
_FILE_TOOLS: Final = ("Read", "Edit", "Write")
_ENDED: Final = re.compile(r"<[^<>]*shellId: [^<>]+ completed with exit code (-?\d+)>")
_GOES_ON: Final = re.compile(r"<command [a-z ]*with shellId: ([^\s<>]+)[ >]")


def parse(
    name: str, payload: Mapping[str, Any], environment: Mapping[str, str]
) -> HookInput | None:
    """Read a hook's payload; notices, and what a subagent is asked and ends, are no concern."""
    event = EVENTS.get(name or text(payload, "hook_event_name"))
    own = event in (HookEvent.STOP, HookEvent.USER_PROMPT_SUBMIT)
    is_notice = text(payload, "prompt").startswith("<system_notification>")
    if event is None or is_notice or (own and text(payload, "agent_id")):
        return None
    return hook_input(
        event,
        payload,
        # What was told at the start is no part of a session that is resumed.
        source=StartSource.COMPACT if text(payload, "source") == "resume" else StartSource.STARTUP,
        # A subagent's calls bear its own id.
        session_id=session_id_of(payload, "parent_agent_id", "session_id"),
        tool=_tool_call(payload),
        result=_tool_result(event, payload),
        touched_file=_touched_file(event, payload),
        set_of_hooks=environment.get("COPILOT_HOOK_DIR", ""),
    )


def _tool_call(payload: Mapping[str, Any]) -> ToolCall | None:
    name, arguments = text(payload, "tool_name"), get(payload, "tool_input", dict, {})
    if not name:
        return None
    # The client names no call: what it is and what came of it are brought together by content.
    said = json.dumps([name, arguments], sort_keys=True)
    server, _, tool = name.rpartition("-")
    return ToolCall(
        name=f"mcp__{server}__{tool}" if server else name,
        input=arguments,
        use_id=hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:32],
        cwd=directory(payload),
    )


def _tool_result(event: HookEvent, payload: Mapping[str, Any]) -> ToolResult | None:
    """Read what became of a call; a command that failed counts as a success of the tool."""
    if event is HookEvent.POST_TOOL_USE_FAILURE:
        return ToolResult(succeeded=False, error=text(payload, "error"))
    if event is not HookEvent.POST_TOOL_USE:
        return None
    given = get(payload, "tool_result", dict, {})
    said, is_shell = text(given, "text_result_for_llm"), text(payload, "tool_name") == "Bash"
    last = said.rstrip().rpartition("\n")[2] if is_shell else ""
    ended, goes_on = _ENDED.fullmatch(last), _GOES_ON.match(last)
    if text(given, "result_type") != "success" or (ended and ended[1] != "0"):
        return ToolResult(succeeded=False, error=said)
    return ToolResult(
        succeeded=True if ended or not is_shell else None,
        response=said,
        background_task_id=goes_on[1] if goes_on else None,
    )


def _touched_file(event: HookEvent, payload: Mapping[str, Any]) -> str:
    if event is not HookEvent.POST_TOOL_USE or text(payload, "tool_name") not in _FILE_TOOLS:
        return ""
    found = path(get(payload, "tool_input", dict, {}), "path")
    return found if found.startswith("/") else ""


def answer(call: HookInput, reply: HookReply) -> HookAnswer:
    """Say a reply as the client takes it; before a tool any exit code but 0 denies the call."""
    document: dict[str, str] = {}
    if reply.block:
        document = {"decision": "block", "reason": reply.block}
    elif reply.deny:
        document = {"permissionDecision": "deny", "permissionDecisionReason": reply.deny}
    elif reply.context:
        document = {"additionalContext": reply.context[:CONTEXT_LIMIT]}
    elif reply.warning and call.event is HookEvent.STOP:
        return HookAnswer(exit_code=2, stderr=reply.warning + "\n")
    return HookAnswer(stdout=json.dumps(document) + "\n" if document else "")


def edited_files(transcript_path: str, offset: int) -> Iterator[str]:
    """Name the files that the agent's calls have edited, from the client's transcript."""
    for line in transcript_lines(transcript_path, offset, b'"tool.execution_start"'):
        data = get(line, "data", dict, {})
        if data.get("toolName") in ("edit", "create"):
            yield path(get(data, "arguments", dict, {}), "path")


def _setup(context: HostContext) -> HostSetup:
    """Register hooks in a file of grove's own."""
    file = _folder(context, shared=context.shared) / "grove.json"
    notes: tuple[str, ...] = ()
    if context.shared:
        note = (
            f"Commit {file}. Copilot CLI runs a project's hooks only in a folder that it was told"
            " to trust: answer Yes when it asks, or start it with --trust-folder; with -p it"
            " leaves them out without a word. Everybody needs grove on PATH."
        )
        notes = (note,)
    hooks = (settings.hooks_file(file, NAME, _groups(context)),) if context.hooks else ()
    return HostSetup(files=(*hooks, *shared_skill(context)), notes=notes if hooks else ())


def _groups(context: HostContext) -> settings.Groups:
    command = shlex.join(["grove" if context.shared else context.program, "hook", NAME])
    # Any exit code but 0 denies the call, and so would a program that is gone.
    matcher = {"PreToolUse": "|".join([*_TOOLS, *context.tools])}
    before = settings.command_groups(f"{command} || true", matcher)
    tools = "|".join(_TOOLS)
    matchers = {
        **dict.fromkeys((*USUAL_EVENTS, *(("SubagentStop",) if context.agents else ())), ""),
        "PostToolUse": "|".join([tools, *_FILE_TOOLS]),
        "PostToolUseFailure": tools,
    }
    return {**settings.command_groups(command, matchers), **before}


def _home(context: HostContext) -> Path:
    named, home = (context.environment.get(name) for name in ("COPILOT_HOME", "HOME"))
    return Path(named or Path(home or "/", ".copilot"))


def _folder(context: HostContext, *, shared: bool) -> Path:
    return (context.root / ".github" if shared else _home(context)) / "hooks"


def _registered(context: HostContext) -> Sequence[Registration]:
    """Find grove's hooks in the files that the client reads."""
    return [
        found
        for kind in ("user", "project")
        for file in sorted(_folder(context, shared=kind == "project").glob("*.json"))
        for found in settings.registered_in(file, kind, NAME)
    ]


def _check(context: HostContext) -> Iterator[CheckResult]:
    """Look for what keeps hooks from running, as far as the client's files tell."""
    found = _registered(context)
    for file in sorted({one.source for one in found}):
        if settings.read(file).get("disableAllHooks") is True:
            detail, fix = f"{file} switches its hooks off", f"Take disableAllHooks out of {file}"
            yield CheckResult(status=Status.BROKEN, detail=detail, fix=fix)
    noted = settings.read(_home(context) / "config.json").get("trustedFolders")
    only_shared = {one.kind for one in found} == {"project"}
    if only_shared and str(context.root) not in settings.as_list(noted):
        detail = "the project's hooks run only where its folder is trusted, which is not noted here"
        fix = f"Answer Yes, and remember, in Copilot CLI; or: grove init --hooks {NAME}"
        yield CheckResult(status=Status.WARNING, detail=detail, fix=fix)


@hookimpl
def grove_hosts() -> Sequence[HostSpec]:
    """Offer GitHub Copilot CLI."""
    return [
        HostSpec(
            name=NAME,
            title="GitHub Copilot CLI",
            parse=parse,
            answer=answer,
            abilities=HostAbilities(
                most_blocks=8,
                results="the exit code in the last line of the result",
                session_variables=("COPILOT_AGENT_SESSION_ID",),
                shell_variables=("COPILOT_CLI",),
                fails_open=False,
                trust="For hooks that a project shares: tell Copilot CLI to trust its folder.",
            ),
            setup=_setup,
            registered=_registered,
            events=USUAL_EVENTS,
            check=_check,
            edited_files=edited_files,
        )
    ]
