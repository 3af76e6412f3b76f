"""The hooks: one module per event of the coding agent."""

CRASH_EXIT_CODE = 3
"""To the client neither a success nor a block: the action goes on."""

STDIN_LIMIT = 16 * 1024 * 1024
"""The most bytes of a payload; what is longer is no payload of the client."""
_MOST_ID_BYTES = 128


def session_id_in(data: bytes) -> bytes:
    """Find the session id without parsing; empty when it is not where it always is."""
    start = data.find(b'"session_id"')
    if start < 0:
        return b""
    start = data.find(b'"', data.find(b":", start)) + 1
    end = data.find(b'"', start, start + _MOST_ID_BYTES + 1)
    session_id = data[start:end] if start > 0 and end > 0 else b""
    return session_id if session_id.translate(None, b"-_").isalnum() else b""
