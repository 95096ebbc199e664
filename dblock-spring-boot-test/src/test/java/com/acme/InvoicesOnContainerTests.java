package com.acme;

import dev.dblock.LockInfo;
import dev.dblock.LockTemplate;
import dev.dblock.mongodb.MongoLockRepository;
import org.junit.jupiter.api.Test;
import org.testcontainers.junit.jupiter.Container;
import org.testcontainers.junit.jupiter.Testcontainers;
import org.testcontainers.mongodb.MongoDBContainer;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.testcontainers.service.connection.ServiceConnection;

import static org.assertj.core.api.Assertions.assertThat;

@SpringBootTest
@Testcontainers(disabledWithoutDocker = true)
class InvoicesOnContainerTests {

	@Container
	@ServiceConnection
	static MongoDBContainer mongodb = new MongoDBContainer("mongo:8.0").withReplicaSet();

	@Autowired
	private Invoices invoices;

	@Autowired
	private LockTemplate locks;

	@Test
	void areLockedInTheContainer(@Autowired MongoLockRepository repository) {
		this.invoices.write();
		assertThat(repository.find("nightly-invoices")).get().extracting(LockInfo::held).isEqualTo(false);
		assertThat(this.locks.listAll("", 10).locks()).extracting(LockInfo::name).containsExactly("nightly-invoices");
	}

}
