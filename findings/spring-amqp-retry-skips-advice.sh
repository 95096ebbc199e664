#!/usr/bin/env bash
#
# Spring AMQP 4.1.2 with Qpid Broker-J 9.2.1: from the second attempt on, a stateless retry interceptor skips the
# advices that follow it in the advice chain of a listener container, so a transaction interceptor does not start a
# transaction.
#
# The advice chain is RetryInterceptorBuilder.stateless(), then a TransactionInterceptor. The listener inserts one row
# per attempt and fails twice. Seen: the first attempt has a transaction, and is rolled back. The second and the third
# have none: the row of the second, which failed, is committed. With Spring AMQP 3.2.12, each attempt has its own
# transaction, and only the row of the third is committed. The interceptor of 4.0 and later calls proceed() of the same
# MethodInvocation again, which goes on behind the advices that were called already. That of Spring Retry, which it
# replaces, calls proceed() of an invocableClone(), as @Retryable does.
#
# What one would expect: each attempt runs through all advices that follow, as with 3.2.12. The reference documentation
# says that stateless retry is appropriate if a transaction is started inside the retry callback.
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
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;

import org.apache.qpid.server.SystemLauncher;
import org.h2.jdbcx.JdbcConnectionPool;
import org.springframework.amqp.core.Queue;
import org.springframework.amqp.rabbit.config.RetryInterceptorBuilder;
import org.springframework.amqp.rabbit.connection.CachingConnectionFactory;
import org.springframework.amqp.rabbit.core.RabbitAdmin;
import org.springframework.amqp.rabbit.core.RabbitTemplate;
import org.springframework.amqp.rabbit.listener.SimpleMessageListenerContainer;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.interceptor.MatchAlwaysTransactionAttributeSource;
import org.springframework.transaction.interceptor.TransactionInterceptor;
import org.springframework.transaction.support.TransactionSynchronizationManager;

public class Probe {

	private static final Logger root = Logger.getLogger("");

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
		JdbcConnectionPool dataSource = JdbcConnectionPool.create("jdbc:h2:mem:probe", "sa", "");
		JdbcTemplate jdbc = new JdbcTemplate(dataSource);
		jdbc.execute("CREATE TABLE written (attempt int)");
		for (int failures = 0; failures <= 2; failures++) {
			probe(failures, connectionFactory, admin, template, dataSource, jdbc);
		}
		System.exit(0);
	}

	private static void probe(int failures, CachingConnectionFactory connectionFactory, RabbitAdmin admin,
			RabbitTemplate template, JdbcConnectionPool dataSource, JdbcTemplate jdbc) throws Exception {
		jdbc.execute("DELETE FROM written");
		Queue queue = new Queue("orders-" + failures, false, false, true);
		admin.declareQueue(queue);
		List<Boolean> transactions = new CopyOnWriteArrayList<>();
		CountDownLatch last = new CountDownLatch(failures + 1);
		SimpleMessageListenerContainer container = new SimpleMessageListenerContainer(connectionFactory);
		container.setQueueNames(queue.getName());
		container.setAdviceChain(RetryInterceptorBuilder.stateless().build(),
				new TransactionInterceptor(new DataSourceTransactionManager(dataSource),
						new MatchAlwaysTransactionAttributeSource()));
		container.setMessageListener((message) -> {
			transactions.add(TransactionSynchronizationManager.isActualTransactionActive());
			jdbc.update("INSERT INTO written VALUES (?)", transactions.size());
			last.countDown();
			if (transactions.size() <= failures) {
				throw new IllegalStateException("attempt " + transactions.size() + " fails");
			}
		});
		container.start();
		template.convertAndSend(queue.getName(), "order");
		last.await(20, TimeUnit.SECONDS);
		container.stop();
		System.out.printf("%d failed attempts: in a transaction %s, rows of the attempts %s%n", failures, transactions,
				jdbc.queryForList("SELECT attempt FROM written ORDER BY attempt", Integer.class));
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
    if [[ $version == 3.2.12 ]]; then
        spring=6.2.19
        expected="0 failed attempts: in a transaction [true], rows of the attempts [1]
1 failed attempts: in a transaction [true, true], rows of the attempts [2]
2 failed attempts: in a transaction [true, true, true], rows of the attempts [3]"
    else
        spring=7.0.10
        expected="0 failed attempts: in a transaction [true], rows of the attempts [1]
1 failed attempts: in a transaction [true, false], rows of the attempts [2]
2 failed attempts: in a transaction [true, false, false], rows of the attempts [2, 3]"
    fi
    cat >"$work/pom.xml" <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>spring-amqp-retry-skips-advice</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.springframework.amqp</groupId>
      <artifactId>spring-rabbit</artifactId>
      <version>$version</version>
    </dependency>
    <dependency>
      <groupId>org.springframework</groupId>
      <artifactId>spring-jdbc</artifactId>
      <version>$spring</version>
    </dependency>
    <dependency>
      <groupId>com.h2database</groupId>
      <artifactId>h2</artifactId>
      <version>2.4.240</version>
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
    [[ $seen == "$expected" ]] || failed=1
done

if ((failed != 0)); then
    tail -n 20 "$work/errors"
    echo "The behavior has changed."
    exit 1
fi
