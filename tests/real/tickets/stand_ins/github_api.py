"""A stand-in of GitHub's API, as far as `gh issue close` and `reopen` ask it: plain HTTP on a Unix socket.

    python github_api.py SOCKET STATE

`gh` talks to it because its `http_unix_socket` is set. STATE is a JSON file: number to
`{"title", "body", "labels", "state"}`; it is read and written at every request.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingUnixStreamServer

STATE = Path(sys.argv[2]) if len(sys.argv) == 3 else None


def issue_fields(number, issue):
    """An issue as GraphQL gives it."""
    return {
        "__typename": "Issue",
        "id": f"I_{number}",
        "number": number,
        "title": issue["title"],
        "body": issue["body"],
        "state": issue["state"],
        "url": f"https://github.com/shop/orders/issues/{number}",
        "labels": {
            "nodes": [{"name": name} for name in issue["labels"]],
            "totalCount": len(issue["labels"]),
        },
    }


def answer(query, variables):
    """What GraphQL answers to a query or mutation."""
    issues = json.loads(STATE.read_text())
    for mutation, state in (("closeIssue", "CLOSED"), ("reopenIssue", "OPEN")):
        if mutation in query:
            number = variables["input"]["issueId"].removeprefix("I_")
            issues[number]["state"] = state
            STATE.write_text(json.dumps(issues))
            return {"data": {mutation: {"issue": {"id": f"I_{number}"}}}}
    number = variables.get("number")
    repository = {"id": "R_1", "name": "orders", "hasIssuesEnabled": True}
    if number is None:
        return {"data": {"repository": repository}}
    issue = issues.get(str(number))
    found = None if issue is None else issue_fields(number, issue)
    document = {"data": {"repository": {**repository, "issue": found}}}
    if found is None:
        text = f"Could not resolve to an issue or pull request with the number of {number}."
        path = ["repository", "issue"]
        document["errors"] = [{"type": "NOT_FOUND", "path": path, "message": text}]
    return document


class Api(BaseHTTPRequestHandler):
    """One request, as `gh` sends it."""

    def do_POST(self):
        size = int(self.headers["Content-Length"])
        request = json.loads(self.rfile.read(size))
        self.reply(answer(request["query"], request.get("variables") or {}))

    def do_GET(self):
        self.reply({})

    def reply(self, document):
        data = json.dumps(document).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def address_string(self):
        return "socket"

    def log_message(self, *words):
        """Prints nothing."""


if __name__ == "__main__":
    with ThreadingUnixStreamServer(sys.argv[1], Api) as server:
        print("ready", flush=True)
        server.serve_forever()
