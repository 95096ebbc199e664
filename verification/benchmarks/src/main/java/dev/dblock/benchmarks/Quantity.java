package dev.dblock.benchmarks;

import org.bson.Document;

/**
 * Number with its unit.
 *
 * @param value the number
 * @param unit the unit
 */
record Quantity(double value, Unit unit) {

	static Quantity nanos(double value) {
		return new Quantity(value, Unit.NANOS);
	}

	static Quantity perSecond(double value) {
		return new Quantity(value, Unit.PER_SECOND);
	}

	static Quantity count(long value) {
		return new Quantity((double) value, Unit.COUNT);
	}

	static Quantity bytes(double value) {
		return new Quantity(value, Unit.BYTES);
	}

	Document toDocument() {
		return new Document("value", this.value).append("unit", this.unit.name());
	}

	@Override
	public String toString() {
		return this.unit.format(this.value);
	}

}
