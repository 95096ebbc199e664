#!/usr/bin/env bash
#
# Spring AMQP 4.1.2 with Qpid Broker-J 9.2.1: when a listener container stops while a message waits for its next
# attempt, the message is taken for one that has failed all attempts. It goes to the error queue, or is lost.
#
# The listeners of 20 containers each get a message and throw an exception. A stateless retry interceptor would try
# again after 20 s, three times. Meanwhile, the containers stop. Seen, if the interceptor has a
# RepublishMessageRecoverer: all 20 messages are in the error queue after their only attempt. Most of them also remain
# in their own queue, and will be delivered again. If the interceptor has no recoverer, and the container has its own
# executor, which is shut down after it, and does not force its channels to close: all 20 messages are lost. With Spring
# AMQP 3.2.12, all remain in their queues, and none is in the error queue. At the end of its shutdownTimeout (5 s by
# default, 1 s here), a container interrupts the thread of its listener, as the shutdown of an executor does. The
# RetryTemplate of Spring 7 throws the same RetryException for an interrupted back-off as for exhausted attempts, and
# the interceptor calls the recoverer for both. The message is then acknowledged, if its channel is still open. With
# Spring Retry, an interrupted back-off is a BackOffInterruptedException, and is not recovered.
#
# What one would expect: the messages remain in their queues, and are delivered again, as with 3.2.12. A recoverer is
# for messages whose attempts are exhausted.
#
# Needs JDK 17 or later and Maven. Fails if Spring AMQP behaves differently.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/Probe.java" <<'JAVA'
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Level;
import java.util.logging.Logger;

import org.apache.qpid.server.SystemLauncher;
import org.springframework.amqp.core.Queue;
import org.springframework.amqp.rabbit.config.RetryInterceptorBuilder;
import org.springframework.amqp.rabbit.connection.CachingConnectionFactory;
import org.springframework.amqp.rabbit.core.RabbitAdmin;
import org.springframework.amqp.rabbit.core.RabbitTemplate;
import org.springframework.amqp.rabbit.listener.SimpleMessageListenerContainer;
import org.springframework.amqp.rabbit.retry.MessageRecoverer;
import org.springframework.amqp.rabbit.retry.RepublishMessageRecoverer;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

public class Probe {

	private static final Logger root = Logger.getLogger("");

	private static final int MESSAGES = 20;

	private static final String CONFIGURATION = """
			{
			  "name": "broker",
			  "modelVersion": "9.1",
			  "authenticationproviders": [{
			    "name": "plain",
			    "type": "Plain",
			    "secureOnlyMechanisms": [],
			    "users": [{"name": "guest", "type": "managed", "password": "guest"}]
			  }],
			  "ports": [{
			    "name": "amqp",
			    "type": "AMQP",
			    "port": %d,
			    "bindingAddress": "127.0.0.1",
			    "authenticationProvider": "plain",
			    "protocols": ["AMQP_0_9_1"],
			    "virtualhostaliases": [{"name": "default", "type": "defaultAlias"}, {"name": "name", "type": "nameAlias"}]
			  }],
			  "virtualhostnodes": [{
			    "name": "default",
			    "type": "Memory",
			    "defaultVirtualHostNode": "true",
			    "virtualHostInitialConfiguration": "{\\"type\\": \\"Memory\\"}"
			  }]
			}
			""";

	public static void main(String[] args) throws Exception {
		root.setLevel(Level.SEVERE);
		int port = startBroker(Path.of(args[0]));
		CachingConnectionFactory connectionFactory = new CachingConnectionFactory("127.0.0.1", port);
		RabbitAdmin admin = new RabbitAdmin(connectionFactory);
		RabbitTemplate template = new RabbitTemplate(connectionFactory);
		probe("error queue", connectionFactory, admin, template, new RepublishMessageRecoverer(template, "", "errors"),
				null);
		ThreadPoolTaskExecutor executor = new ThreadPoolTaskExecutor();
		executor.setCorePoolSize(2 * MESSAGES);
		executor.initialize();
		probe("own executor", connectionFactory, admin, template, null, executor);
		System.exit(0);
	}

	private static void probe(String name, CachingConnectionFactory connectionFactory, RabbitAdmin admin,
			RabbitTemplate template, MessageRecoverer recoverer, ThreadPoolTaskExecutor executor) throws Exception {
		admin.declareQueue(new Queue("errors", false, false, false));
		AtomicInteger attempts = new AtomicInteger();
		CountDownLatch begun = new CountDownLatch(MESSAGES);
		List<SimpleMessageListenerContainer> containers = new ArrayList<>();
		for (int i = 0; i < MESSAGES; i++) {
			String queue = name + "-" + i;
			admin.declareQueue(new Queue(queue, false, false, false));
			template.convertAndSend(queue, "order");
			RetryInterceptorBuilder.StatelessRetryInterceptorBuilder retry = RetryInterceptorBuilder.stateless()
				.backOffOptions(20_000, 1, 20_000);
			if (recoverer != null) {
				retry.recoverer(recoverer);
			}
			SimpleMessageListenerContainer container = new SimpleMessageListenerContainer(connectionFactory);
			container.setQueueNames(queue);
			container.setShutdownTimeout(1000);
			if (executor != null) {
				container.setTaskExecutor(executor);
				container.setForceCloseChannel(false);
			}
			container.setAdviceChain(retry.build());
			container.setMessageListener((message) -> {
				attempts.incrementAndGet();
				begun.countDown();
				throw new IllegalStateException("the mail server is busy");
			});
			container.start();
			containers.add(container);
		}
		begun.await(20, TimeUnit.SECONDS);
		Thread.sleep(500);
		CountDownLatch stopped = new CountDownLatch(MESSAGES);
		containers.forEach((container) -> container.stop(stopped::countDown));
		stopped.await(20, TimeUnit.SECONDS);
		if (executor != null) {
			executor.shutdown();
		}
		Thread.sleep(1000);
		int remaining = 0;
		for (int i = 0; i < MESSAGES; i++) {
			if (template.receive(name + "-" + i) != null) {
				remaining++;
			}
		}
		int errors = 0;
		while (template.receive("errors") != null) {
			errors++;
		}
		System.out.printf("%s: %d attempts, %d messages remain, %d in the error queue%n", name, attempts.get(),
				remaining, errors);
	}

	private static int startBroker(Path folder) throws Exception {
		int port;
		try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			port = socket.getLocalPort();
		}
		Path configuration = Files.writeString(folder.resolve("broker.json"), CONFIGURATION.formatted(port));
		new SystemLauncher().startup(Map.of("type", "Memory", "initialConfigurationLocation",
				configuration.toUri().toString(), "startupLoggedToSystemOut", "false", "qpid.work_dir",
				folder.toString()));
		return port;
	}

}
JAVA

failed=0
for version in 3.2.12 4.1.2; do
    cat >"$work/pom.xml" <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>spring-amqp-retry-interrupted</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.springframework.amqp</groupId>
      <artifactId>spring-rabbit</artifactId>
      <version>$version</version>
    </dependency>
    <dependency>
      <groupId>org.apache.qpid</groupId>
      <artifactId>qpid-broker-core</artifactId>
      <version>9.2.1</version>
    </dependency>
    <dependency>
      <groupId>org.apache.qpid</groupId>
      <artifactId>qpid-broker-plugins-amqp-0-8-protocol</artifactId>
      <version>9.2.1</version>
    </dependency>
    <dependency>
      <groupId>org.apache.qpid</groupId>
      <artifactId>qpid-broker-plugins-memory-store</artifactId>
      <version>9.2.1</version>
    </dependency>
    <dependency>
      <groupId>org.slf4j</groupId>
      <artifactId>slf4j-jdk14</artifactId>
      <version>2.0.17</version>
    </dependency>
  </dependencies>
</project>
POM
    mvn -q -B -f "$work/pom.xml" dependency:copy-dependencies -DoutputDirectory="$work/lib-$version" \
        </dev/null >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    mkdir "$work/broker-$version"
    echo "Spring AMQP $version"
    seen=$(java -cp "$work/lib-$version/*" "$work/Probe.java" "$work/broker-$version" 2>"$work/errors") ||
        cat "$work/errors"
    printf '%s\n' "$seen"
    if [[ $version == 3.2.12 ]]; then
        [[ $seen == "error queue: 20 attempts, 20 messages remain, 0 in the error queue
own executor: 20 attempts, 20 messages remain, 0 in the error queue" ]] || failed=1
    else
        [[ $seen =~ ^"error queue: 20 attempts, "[0-9]+" messages remain, 20 in the error queue
own executor: 20 attempts, 0 messages remain, 0 in the error queue"$ ]] || failed=1
    fi
done

if ((failed != 0)); then
    tail -n 20 "$work/errors"
    echo "The behavior has changed."
    exit 1
fi
