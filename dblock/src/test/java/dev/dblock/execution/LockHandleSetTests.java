package dev.dblock.execution;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import dev.dblock.LockHandle;
import dev.dblock.engine.LockEngine;
import org.junit.jupiter.api.Test;

import org.springframework.dao.DataAccessResourceFailureException;

import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.BDDMockito.willThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;

/**
 * Tests for {@link LockHandleSet}.
 */
class LockHandleSetTests {

	private final LockEngine engine = mock(LockEngine.class);

	@Test
	void failedReleaseOfASharedLockDoesNotKeepTheOtherOnesFromBeingLeft() {
		LockHandle first = mock(LockHandle.class);
		LockHandle last = mock(LockHandle.class);
		Map<String, Hold> holds = new LinkedHashMap<>();
		holds.put("a", Hold.owned(this.engine, first));
		holds.put("b", Hold.owned(this.engine, last));
		DataAccessResourceFailureException failure = new DataAccessResourceFailureException("scripted");
		willThrow(failure).given(last).release();
		LockHandleSet set = new LockHandleSet(holds, List.of(), List.of());
		assertThatThrownBy(set::keepUntilShutdown).isSameAs(failure);
		verify(first).release();
	}

}
