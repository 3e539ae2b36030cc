"""A small process that ends the JVM after this process has ended, however either of them is.

The JVM ends by itself when this process does, but politely: it stops Spark first, and that may take for ever when the
JVM is busy or out of memory. This process cannot see to it, because it may be killed.
"""

import subprocess
from functools import cache

GRACE_S = 10
"""How long the JVM has to end by itself, and to remove its temporary files."""

# The standard input is a pipe that only our process can write to: it ends when our process does, for whatever reason.
# The number of the JVM's process may belong to another process by then, so its start time must be the same, too.
# A shell, because it takes a megabyte; `ps` is for systems without /proc.
_SCRIPT = """
start_time() { cut -d" " -f22 "/proc/$1/stat" 2>/dev/null || ps -o lstart= -p "$1"; }
started=$(start_time "$1")
while read -r line; do :; done
waited=0
while [ "$waited" -lt "$2" ]; do
  sleep 1
  [ "$(start_time "$1")" = "$started" ] || exit 0
  waited=$((waited + 1))
done
kill -KILL "$1"
"""


@cache
def guard_jvm(pid: int, grace_s: int = GRACE_S) -> "subprocess.Popen[bytes]":
    """Start the guard of a JVM that is running; one for each JVM."""
    return subprocess.Popen(
        ["/bin/sh", "-c", _SCRIPT, "lineproof-jvm-guard", str(pid), str(grace_s)],
        cwd="/",
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # so that Ctrl-C in the terminal, and its end, do not stop it
    )
