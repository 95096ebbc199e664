package dev.dblock.autoconfigure;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

import dev.dblock.LockNamePrefix;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.support.BeanDefinitionBuilder;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link BeanNames}.
 */
class BeanNamesTests {

	private final List<String> created = new ArrayList<>();

	private final DefaultListableBeanFactory beans = new DefaultListableBeanFactory();

	private void define(DefaultListableBeanFactory beans, String name) {
		define(beans, name, LockNamePrefix.class, () -> {
			this.created.add(name);
			// Another object each time, since it holds the name
			return (lock) -> name;
		});
	}

	private static <T> void define(DefaultListableBeanFactory beans, String name, Class<T> type, Supplier<T> supplier) {
		beans.registerBeanDefinition(name,
				BeanDefinitionBuilder.genericBeanDefinition(type, supplier).setLazyInit(true).getBeanDefinition());
	}

	private String describe(LockNamePrefix bean, DefaultListableBeanFactory beans) {
		return BeanNames.describe(LockNamePrefix.class, bean, beans);
	}

	@Test
	void aBeanIsFoundByWhatItIs() {
		define(this.beans, "one");
		define(this.beans, "other");
		LockNamePrefix one = this.beans.getBean("one", LockNamePrefix.class);
		LockNamePrefix other = this.beans.getBean("other", LockNamePrefix.class);
		assertThat(describe(one, this.beans)).isEqualTo("The LockNamePrefix bean 'one'");
		assertThat(describe(other, this.beans)).isEqualTo("The LockNamePrefix bean 'other'");
	}

	@Test
	void unneededBeansAreNotCreated() {
		define(this.beans, "unused");
		define(this.beans, "used");
		define(this.beans, "factory", PrefixFactory.class, () -> {
			this.created.add("factory");
			return new PrefixFactory();
		});
		LockNamePrefix used = this.beans.getBean("used", LockNamePrefix.class);
		assertThat(describe(used, this.beans)).isEqualTo("The LockNamePrefix bean 'used'");
		assertThat(this.created).containsExactly("used");
	}

	@Test
	void aBeanOfTheParentIsFoundThere() {
		DefaultListableBeanFactory child = new DefaultListableBeanFactory(this.beans);
		define(child, "unused");
		define(this.beans, "inherited");
		LockNamePrefix inherited = this.beans.getBean("inherited", LockNamePrefix.class);
		assertThat(describe(inherited, child)).isEqualTo("The LockNamePrefix bean 'inherited'");
		assertThat(this.created).containsExactly("inherited");
	}

	@Test
	void anObjectThatIsNoBeanIsNamedByItsClass() {
		define(this.beans, "one");
		define(this.beans, "other");
		assertThat(describe((lock) -> "", this.beans)).isEqualTo("A LockNamePrefix bean of " + getClass().getName());
		assertThat(this.created).isEmpty();
	}

	static class PrefixFactory implements FactoryBean<LockNamePrefix> {

		@Override
		public LockNamePrefix getObject() {
			return (lock) -> "";
		}

		@Override
		public Class<?> getObjectType() {
			return LockNamePrefix.class;
		}

	}

}
