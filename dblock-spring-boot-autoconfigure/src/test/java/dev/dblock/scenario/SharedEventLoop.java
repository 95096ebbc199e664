package dev.dblock.scenario;

import com.mongodb.connection.TransportSettings;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.DefaultThreadFactory;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.mongodb.autoconfigure.MongoClientSettingsBuilderCustomizer;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * Lets all applications of a JVM share one event loop of Netty. Spring Boot creates one
 * for each, which takes two seconds to end.
 */
final class SharedEventLoop implements ApplicationContextInitializer<ConfigurableApplicationContext> {

	private static final EventLoopGroup LOOP = new MultiThreadIoEventLoopGroup(
			new DefaultThreadFactory("shared-event-loop", true), NioIoHandler.newFactory());

	private static final MongoClientSettingsBuilderCustomizer SHARED = (builder) -> builder
		.transportSettings(TransportSettings.nettyBuilder().eventLoopGroup(LOOP).build());

	@Override
	public void initialize(ConfigurableApplicationContext context) {
		context.getBeanFactory().addBeanPostProcessor(new BeanPostProcessor() {
			@Override
			public Object postProcessBeforeInitialization(Object bean, String name) {
				return name.equals("nettyDriverCustomizer") ? SHARED : bean;
			}
		});
	}

}
