"""``grove serve``: the session's server, which answers hooks and offers tools to the agent.

``server`` is the process and its protocol, ``hooks`` answers hooks, ``tools`` offers what an agent
may call.
"""
