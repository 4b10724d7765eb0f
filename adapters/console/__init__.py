"""The console: a terminal, a pipe, or a socket beside a running gateway."""
