"""The child process of the local model: ``python -m gateway.agent.child MODEL NAME``.

Serves an OpenAI-compatible API on a free loopback port behind the key in ``LOCAL_MODEL_KEY``,
prints its address as the first line, and ends when its standard input closes: the pipe belongs
to the gateway, so even a killed gateway leaves no child behind.
"""

from __future__ import annotations

import os
import signal
import sys

#: tokens of prompt and answer together
CONTEXT_TOKENS = 4096
#: prompt cache in host memory; the library's own default is 8 GB
CACHE_MIB = 256
KEY_VARIABLE = "LOCAL_MODEL_KEY"


def main() -> None:
    """Serve until standard input closes."""
    import xllamacpp

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the gateway, which then ends us
    params = xllamacpp.CommonParams()
    params.model.path = sys.argv[1]
    params.n_ctx = CONTEXT_TOKENS
    params.n_parallel = 1
    params.cpuparams.n_threads = max(1, min(8, (os.cpu_count() or 2)))
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [os.environ.pop(KEY_VARIABLE)]
    params.ui = False
    params.model_alias = {sys.argv[2]}
    params.cache_ram_mib = CACHE_MIB
    params.verbosity = -1
    server = xllamacpp.Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nobody reads on
    sys.stdin.buffer.read()
    os._exit(0)  # the server's threads need no farewell, and waiting for them can hang


if __name__ == "__main__":
    main()
