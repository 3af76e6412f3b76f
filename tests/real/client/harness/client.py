"""Starts the client, feeds it its prompts, and ends what outlives it."""

import contextlib
import json
import subprocess
import threading


def wait_for_client(run, command, environment):
    """The client's exit code, and whether its time ran out."""
    in_turn = isinstance(run.prompt, list)
    with (
        (run.out / "stream.jsonl").open("w") as stream,
        (run.out / "stderr.txt").open("w") as stderr,
        subprocess.Popen(
            command,
            cwd=run.cwd,
            env=environment,
            stdin=subprocess.PIPE if in_turn else subprocess.DEVNULL,
            stdout=subprocess.PIPE if in_turn else stream,
            stderr=stderr,
            text=True,
            start_new_session=True,
        ) as process,
    ):
        talk = threading.Thread(target=converse, args=(process, run.prompt, stream), daemon=True)
        if in_turn:
            talk.start()
        ended = wait(process, run)
        if in_turn:
            talk.join(5)
        return ended


def wait(process, run):
    """The exit code of the client, and whether its time ran out."""
    try:
        process.wait(run.timeout)
    except subprocess.TimeoutExpired:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(5)
        return process.returncode, True
    finally:
        process.kill()
    return process.returncode, False


def converse(process, prompts, stream):
    """Gives the client one prompt after the other, the next when the last has its result."""
    waiting = list(prompts)
    say(process.stdin, waiting)
    for line in process.stdout:
        stream.write(line)
        if is_result(line):
            say(process.stdin, waiting)


def is_result(line):
    """Whether a line of the client's stream ends a turn."""
    try:
        return json.loads(line).get("type") == "result"
    except ValueError:
        return False


def say(stdin, waiting):
    """The next prompt, or the end of all prompts."""
    with contextlib.suppress(OSError, ValueError):  # the client may end before its last prompt
        if waiting:
            message = {"role": "user", "content": waiting.pop(0)}
            stdin.write(json.dumps({"type": "user", "message": message}) + "\n")
            stdin.flush()
        else:
            stdin.close()
