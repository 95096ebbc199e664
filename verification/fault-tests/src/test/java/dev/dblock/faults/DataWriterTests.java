package dev.dblock.faults;

import java.nio.MappedByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;

import com.mongodb.MongoException;
import com.mongodb.ServerAddress;
import com.mongodb.connection.ClusterId;
import com.mongodb.connection.ConnectionDescription;
import com.mongodb.connection.ServerId;
import com.mongodb.event.CommandStartedEvent;
import org.bson.BsonDocument;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mockito.InOrder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.then;
import static org.mockito.BDDMockito.willAnswer;
import static org.mockito.Mockito.inOrder;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;

/**
 * Which refusals are the fence's.
 */
class DataWriterTests {

	@TempDir
	private Path folder;

	private final SectionData data = mock();

	private final TransactionMoments moments = new TransactionMoments();

	private MappedByteBuffer buffer;

	private final Stamps stamps = mock();

	@BeforeEach
	void open() {
		this.buffer = new Records(this.folder, 1, 1).add();
	}

	private void send(String command) {
		BsonDocument document = BsonDocument.parse(command);
		this.moments.commandStarted(new CommandStartedEvent(null, 1, 1,
				new ConnectionDescription(new ServerId(new ClusterId(), new ServerAddress())), "faults",
				document.getFirstKey(), document));
	}

	private Written write(Writing writing, boolean slowly, Runnable requests, Written answer) {
		willAnswer((call) -> {
			requests.run();
			if (answer == Written.UNKNOWN) {
				throw new MongoException("no answer");
			}
			return answer;
		}).given(this.data).write(any(), any(), anyLong(), anyLong());
		OpenAttempt attempt = new OpenAttempt(this.buffer, this.stamps, 0, Kind.ACQUIRE);
		new DataWriter(this.data, this.moments, this.stamps, 1).write(attempt, writing, "red", 1024, 7, slowly,
				new Random(1));
		return recorded();
	}

	private Written recorded() {
		return Written.values()[(int) this.buffer.getLong(Records.WRITTEN)];
	}

	private void sendFence() {
		send("{findAndModify: 'dblock_fences'}");
	}

	@Test
	void refusalIsTheFencesOnceItWasSent() {
		assertThat(write(Writing.TRANSACTION, false, this::sendFence, Written.REFUSED))
			.isEqualTo(Written.REFUSED_BY_FENCE);
		assertThat(write(Writing.TRANSACTION, false, () -> send("{findAndModify: 'dblock_locks'}"), Written.REFUSED))
			.isEqualTo(Written.REFUSED_BY_DEADLINE);
		assertThat(write(Writing.TOKEN, false, () -> {
		}, Written.REFUSED)).isEqualTo(Written.REFUSED);
	}

	@Test
	void transactionMayBeOpenFromItsFenceUntilItsOutcomeIsKnown() {
		assertThat(write(Writing.TRANSACTION, false, () -> {
			assertThat(recorded()).isEqualTo(Written.UNKNOWN);
			sendFence();
			assertThat(recorded()).isEqualTo(Written.FENCED);
		}, Written.CONFIRMED)).isEqualTo(Written.CONFIRMED);
		assertThat(write(Writing.TRANSACTION, false, this::sendFence, Written.UNKNOWN)).isEqualTo(Written.FENCED);
		assertThat(write(Writing.TRANSACTION, false, () -> {
		}, Written.UNKNOWN)).isEqualTo(Written.UNKNOWN);
	}

	@Test
	void slowTransactionIsFoundBeforeItsFenceAndItsCommit() {
		given(this.stamps.isStopped()).willReturn(true);
		write(Writing.TRANSACTION, true, () -> {
			sendFence();
			send("{commitTransaction: 1}");
			send("{commitTransaction: 1}");
		}, Written.CONFIRMED);
		InOrder order = inOrder(this.stamps);
		for (Moment moment : List.of(Moment.FENCE, Moment.COMMIT)) {
			then(this.stamps).should(order).beginWrite(1, moment);
			then(this.stamps).should(order).endWrite(1, moment);
		}
		then(this.stamps).should(never()).beginWrite(anyInt(), eq(Moment.TRANSACTION));
	}

	@Test
	void othersAreNot() {
		write(Writing.TRANSACTION, false, this::sendFence, Written.CONFIRMED);
		then(this.stamps).shouldHaveNoInteractions();
	}

}
