package dev.dblock.mongodb;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.willAnswer;
import static org.mockito.BDDMockito.willDoNothing;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;

/**
 * When the collection of the fences is created.
 */
class FencedTransactionsTests {

	private final AtomicLong nanoTime = new AtomicLong(Long.MAX_VALUE - 1);

	private final FencedTransactions.Requests repository = mock(FencedTransactions.Requests.class);

	private final FenceCollection indexes = mock(FenceCollection.class);

	private final Fences fences = mock(Fences.class);

	private final FencedTransactions fenced = new FencedTransactions(this.fences, mock(LockDatabase.class),
			this.repository, this.nanoTime::get);

	@BeforeEach
	void findIndexes() {
		given(this.fences.indexes()).willReturn(this.indexes);
	}

	@Test
	void creationThatFailedIsRetriedAfterAPauseDuringWhichNoThreadWaits() {
		willAnswer((call) -> {
			assertThat(this.fenced.isPrepared()).as("other threads wait meanwhile").isFalse();
			throw new IllegalStateException("scripted");
		}).given(this.repository).createFences();
		assertThat(this.fenced.isPrepared()).isFalse();
		this.fenced.prepare();
		assertThat(this.fenced.isPrepared()).isTrue();
		this.fenced.prepare();
		verify(this.repository).createFences();
		verify(this.indexes).failed();
		this.nanoTime.addAndGet(Duration.ofMinutes(1).toNanos());
		assertThat(this.fenced.isPrepared()).isFalse();
		willDoNothing().given(this.repository).createFences();
		this.fenced.prepare();
		verify(this.repository, times(2)).createFences();
	}

	@Test
	void aCreatedCollectionIsCheckedAgainWhenDue() {
		this.fenced.prepare();
		given(this.indexes.isDue()).willReturn(true);
		assertThat(this.fenced.isPrepared()).isFalse();
		this.fenced.prepare();
		verify(this.repository, times(2)).createFences();
	}

	@Test
	void aCreatedCollectionIsNotCheckedAgainBefore() {
		this.fenced.prepare();
		this.nanoTime.addAndGet(Duration.ofHours(1).toNanos());
		assertThat(this.fenced.isPrepared()).isTrue();
		this.fenced.prepare();
		verify(this.repository).createFences();
	}

}
