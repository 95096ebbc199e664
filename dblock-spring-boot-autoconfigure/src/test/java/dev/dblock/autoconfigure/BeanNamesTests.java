package dev.dblock.autoconfigure;

import dev.dblock.LockNamePrefix;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.support.DefaultListableBeanFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link BeanNames}.
 */
class BeanNamesTests {

	private final DefaultListableBeanFactory beans = new DefaultListableBeanFactory();

	private static LockNamePrefix define(DefaultListableBeanFactory beans, String name) {
		// Another object each time, since it holds the name
		LockNamePrefix prefix = (lock) -> name;
		beans.registerSingleton(name, prefix);
		return prefix;
	}

	private static String describe(LockNamePrefix bean, DefaultListableBeanFactory beans) {
		return BeanNames.describe(LockNamePrefix.class, bean, beans);
	}

	@Test
	void aBeanIsFoundByWhatItIs() {
		LockNamePrefix one = define(this.beans, "one");
		LockNamePrefix other = define(this.beans, "other");
		assertThat(describe(one, this.beans)).isEqualTo("The LockNamePrefix bean 'one'");
		assertThat(describe(other, this.beans)).isEqualTo("The LockNamePrefix bean 'other'");
	}

	@Test
	void aBeanOfTheParentIsFoundThere() {
		DefaultListableBeanFactory child = new DefaultListableBeanFactory(this.beans);
		define(child, "of the child");
		LockNamePrefix inherited = define(this.beans, "inherited");
		assertThat(describe(inherited, child)).isEqualTo("The LockNamePrefix bean 'inherited'");
	}

	@Test
	void anObjectThatIsNoBeanIsNamedByItsClass() {
		define(this.beans, "one");
		assertThat(describe((lock) -> "", this.beans)).isEqualTo("A LockNamePrefix bean of " + getClass().getName());
	}

}
