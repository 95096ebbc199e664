package dev.dblock.actuate;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * Response over HTTP to a request that reads, with the fields of what was read. As an
 * {@link OperationResponseBody}, Jackson writes it as Actuator's own responses, whatever
 * the application sets for its own.
 *
 * @param read what was read; {@code null} if there is none
 * @param meaning why there is none; {@code null} otherwise
 */
record ReadBody(@JsonUnwrapped @Nullable Object read, @Nullable String meaning) implements OperationResponseBody {
}
