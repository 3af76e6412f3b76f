"""A stand-in of Jira's API, as far as `jira issue move` and `jira issue view` ask it.

    python jira_api.py STATE

Prints the port on the loopback address at which it answers. STATE is a JSON file: key to
`{"summary", "description", "labels", "status"}`; it is read and written at every request.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

STATE = Path(sys.argv[1]) if len(sys.argv) == 2 else None
STATUSES = {"11": "To Do", "21": "In Progress", "31": "Done"}


class Api(BaseHTTPRequestHandler):
    """One request, as `jira` sends it: `/rest/api/2/issue/KEY` and `…/transitions`."""

    def do_GET(self):
        issue = json.loads(STATE.read_text()).get(self.key)
        if issue is None:
            self.reply(
                404, {"errorMessages": ["Issue does not exist or you do not have permission."]}
            )
        elif self.path.rstrip("/").endswith("transitions"):
            names = [
                {"id": one, "name": name, "isAvailable": True} for one, name in STATUSES.items()
            ]
            self.reply(200, {"transitions": names})
        else:
            self.reply(200, {"key": self.key, "fields": self.fields(issue)})

    def do_POST(self):
        size = int(self.headers["Content-Length"])
        wanted = json.loads(self.rfile.read(size))["transition"]["id"]
        issues = json.loads(STATE.read_text())
        issues[self.key]["status"] = STATUSES[wanted]
        STATE.write_text(json.dumps(issues))
        self.reply(204, None)

    @property
    def key(self):
        words = self.path.split("?")[0].split("/")
        return words[words.index("issue") + 1]

    @staticmethod
    def fields(issue):
        category = "done" if issue["status"] == "Done" else "new"
        return {
            "summary": issue["summary"],
            "description": issue["description"],
            "labels": issue["labels"],
            "status": {"name": issue["status"], "statusCategory": {"key": category}},
            "issuetype": {"name": "Task"},
        }

    def reply(self, code, document):
        data = b"" if document is None else json.dumps(document).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *words):
        """Prints nothing."""


if __name__ == "__main__":
    with ThreadingHTTPServer(("127.0.0.1", 0), Api) as server:
        print(server.server_port, flush=True)
        server.serve_forever()
