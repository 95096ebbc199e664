package dev.dblock.annotation;

import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.beans.factory.support.RootBeanDefinition;

import static org.assertj.core.api.Assertions.assertThat;

class BeanInspectorTests {

	private static final AtomicInteger created = new AtomicInteger();

	@Test
	void factoryIsNotCreatedToAskForTheTypeOfItsProduct() {
		DefaultListableBeanFactory beanFactory = new DefaultListableBeanFactory();
		RootBeanDefinition definition = new RootBeanDefinition(Secretive.class);
		definition.setLazyInit(true);
		beanFactory.registerBeanDefinition("secretive", definition);
		assertThat(new BeanInspector(beanFactory).inspect())
			.contains(new InspectedBean("secretive", Secretive.class, null))
			.allMatch((bean) -> bean.instance() == null);
		assertThat(created).hasValue(0);
		beanFactory.getBean("secretive");
		assertThat(created).hasValue(1);
		assertThat(new BeanInspector(beanFactory).inspect()).extracting(InspectedBean::type)
			.containsExactly(Secretive.class, String.class);
	}

	static class Secretive implements FactoryBean<Object> {

		Secretive() {
			created.incrementAndGet();
		}

		@Override
		public Object getObject() {
			return "product";
		}

		@Override
		public Class<?> getObjectType() {
			return String.class;
		}

	}

}
