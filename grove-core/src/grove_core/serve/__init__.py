"""``grove serve``: the session's server, which answers hooks and offers tools to the agent.

``protocol`` reads and writes the Model Context Protocol, ``server`` is the process, ``hooks``
answers hooks, ``tools`` offers what an agent may call.
"""
