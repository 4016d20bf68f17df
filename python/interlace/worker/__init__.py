"""The worker process: `python -m interlace.worker`, started by the core with a socket as file descriptor 3.

The protocol is described in docs/development/worker-protocol.md. One thread: the main one, on which user code runs, so
that libraries which insist on it work. A cancellation comes as SIGINT and is raised there.
"""
