"""Headless Chromium, driven through the DevTools protocol over a pipe: no port, no driver."""

import json
import os
import select
import shutil
import subprocess
import time
from contextlib import contextmanager

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SECONDS = 60
FLAGS = (
    "--headless",
    "--remote-debugging-pipe",
    "--no-sandbox",  # CI runs as root, and the pages are our own
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--hide-scrollbars",
)


def find():
    """The browser's program, or None."""
    return next((found for name in PROGRAMS if (found := shutil.which(name))), None)


class Browser:
    """A browser with one page."""

    def __init__(self, process, to_browser, from_browser):
        self.process = process
        self.to_browser = to_browser
        self.from_browser = from_browser
        self.pending = b""
        self.number = 0
        self.events = []
        target = self.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        attached = self.call("Target.attachToTarget", {"targetId": target, "flatten": True})
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.page(f"{domain}.enable")

    def page(self, method, **parameters):
        return self.call(method, parameters, session=self.session)

    def call(self, method, parameters, session=None):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.to_browser, json.dumps(message).encode() + b"\0")
        answer = self._until(lambda one: one.get("id") == message["id"])
        assert "error" not in answer, answer
        return answer["result"]

    def _until(self, wanted):
        deadline = time.monotonic() + SECONDS
        while True:
            while b"\0" in self.pending:
                line, self.pending = self.pending.split(b"\0", 1)
                message = json.loads(line)
                if "method" in message:
                    self.events.append(message)
                if wanted(message):
                    return message
            ready, _, _ = select.select(
                [self.from_browser], [], [], max(0, deadline - time.monotonic())
            )
            assert ready, "the browser does not answer"
            data = os.read(self.from_browser, 1 << 20)
            assert data, "the browser has ended"
            self.pending += data

    def open(self, path, *, width, height=900, scheme="light"):
        """Shows a file in a window of some size, with one of the two colour schemes."""
        self.visit(path.as_uri(), width=width, height=height, scheme=scheme)

    def visit(self, address, *, width, height=900, scheme="light"):
        """Shows what is at an address, likewise."""
        self.events.clear()
        self.page(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.page("Emulation.setEmulatedMedia", features=[feature])
        self.page("Page.navigate", url=address)
        loaded = [one for one in self.events if one["method"] == "Page.loadEventFired"]
        if not loaded:
            self._until(lambda one: one.get("method") == "Page.loadEventFired")
        # What a style sheet names is asked for when it is painted.
        self.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")

    def evaluate(self, expression):
        """The value of a JavaScript expression in the page."""
        answer = self.page(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def complaints(self):
        """What the console has heard since the page was opened: errors, warnings, exceptions."""
        self.evaluate("0")
        wanted = {"Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown"}
        return [one["params"] for one in self.events if one["method"] in wanted]

    def requests(self):
        """Addresses that the page has asked for."""
        sent = [one for one in self.events if one["method"] == "Network.requestWillBeSent"]
        return [one["params"]["request"]["url"] for one in sent]


@contextmanager
def running(program, folder):
    """A browser that keeps everything in a folder of its own, and has ended afterwards."""
    commands, to_browser = os.pipe()
    from_browser, answers = os.pipe()

    # The browser reads from 3 and writes to 4, whatever numbers the pipes have here.
    lay_pipes = f'exec "$@" 3<&{commands} 4>&{answers}'
    process = subprocess.Popen(
        ["bash", "-c", lay_pipes, "bash", program, *FLAGS, f"--user-data-dir={folder}"],
        env={**os.environ, "HOME": str(folder)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=(commands, answers),
    )
    os.close(commands)
    os.close(answers)
    try:
        yield Browser(process, to_browser, from_browser)
    finally:
        os.close(to_browser)
        os.close(from_browser)
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
