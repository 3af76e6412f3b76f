"""What real servers say about themselves is what grove's profiles expect."""

from grove_backend_mcp.client import connect
from grove_backend_mcp.profiles import match_profile


def test_a_real_server_is_told_by_its_name_and_its_tools(running_server, server):
    with connect(running_server.endpoint) as connection:
        profile = match_profile(connection.tools(), connection.server_name)
    assert profile is not None
    assert profile.name == server.profile
