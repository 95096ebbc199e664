package dev.dblock.test.check;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;

import com.mongodb.bulk.BulkWriteResult;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import org.bson.BsonDateTime;
import org.bson.BsonDocument;

/**
 * Makes servers out of good ones that keep no locks.
 */
enum Disturbance implements UnaryOperator<MongoDatabase> {

	/** Updates of one document ignore all conditions, as if none was atomic. */
	WITHOUT_CONDITIONS {

		@Override
		Object call(Object target, Method method, Object[] arguments) throws ReflectiveOperationException {
			if (method.getName().equals("findOneAndUpdate") && arguments[0] instanceof BsonDocument filter) {
				arguments[0] = new BsonDocument("_id", filter.get("_id"));
			}
			return method.invoke(target, arguments);
		}

	},

	/** The server's clock advances by a minute whenever it is read. */
	RUNAWAY_CLOCK {

		private final AtomicInteger minutes = new AtomicInteger();

		@Override
		Object call(Object target, Method method, Object[] arguments) throws ReflectiveOperationException {
			Object result = method.invoke(target, arguments);
			if (result instanceof BsonDocument answer && answer.containsKey("localTime")) {
				long time = answer.getDateTime("localTime").getValue();
				answer.put("localTime", new BsonDateTime(time + this.minutes.incrementAndGet() * 60_000L));
			}
			return result;
		}

	},

	/** A take-over does not raise the fence. */
	WITHOUT_RAISED_FENCES {

		@Override
		Object call(Object target, Method method, Object[] arguments) throws ReflectiveOperationException {
			return method.getName().equals("bulkWrite") ? BulkWriteResult.unacknowledged()
					: method.invoke(target, arguments);
		}

	};

	abstract Object call(Object target, Method method, Object[] arguments) throws ReflectiveOperationException;

	@Override
	public MongoDatabase apply(MongoDatabase database) {
		return disturbed(MongoDatabase.class, database);
	}

	private <T> T disturbed(Class<T> type, Object target) {
		return type
			.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, (proxy, method, arguments) -> {
				Object result;
				try {
					result = call(target, method, arguments);
				}
				catch (InvocationTargetException ex) {
					throw ex.getTargetException();
				}
				if (result instanceof MongoDatabase) {
					return disturbed(MongoDatabase.class, result);
				}
				return (result instanceof MongoCollection<?>) ? disturbed(MongoCollection.class, result) : result;
			}));
	}

}
