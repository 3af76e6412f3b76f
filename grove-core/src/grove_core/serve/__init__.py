"""``grove serve``: the session's server, which answers hooks and offers tools to the agent.

``protocol`` reads and writes the Model Context Protocol, ``server`` is the process, ``hooks``
answers hooks, ``tools`` offers what an agent may call, ``stops`` keeps server and command hook
from answering one stop twice, and ``record`` tells of a server that lives.
"""
