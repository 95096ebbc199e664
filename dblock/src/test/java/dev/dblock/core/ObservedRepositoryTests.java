package dev.dblock.core;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.stream.Stream;

import dev.dblock.observation.ObservedRepository;
import dev.dblock.store.LockRepository;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThatNoException;

/**
 * Tests for {@link ObservedRepository}.
 */
class ObservedRepositoryTests {

	static Stream<Method> requests() {
		return Stream.of(LockRepository.class.getMethods())
			.filter((method) -> !Modifier.isStatic(method.getModifiers()));
	}

	/**
	 * A method with a default that was not passed on would do nothing in an application
	 * that is observed.
	 */
	@ParameterizedTest
	@MethodSource("requests")
	void passesOnWhateverAStoreCanDo(Method request) {
		assertThatNoException().isThrownBy(
				() -> ObservedRepository.class.getDeclaredMethod(request.getName(), request.getParameterTypes()));
	}

}
