package dev.dblock.sample.live;

import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.servlet.config.annotation.CorsRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

/**
 * Configuration of the live page. If its instance does not respond, the page switches to
 * another instance on the same machine.
 */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(LiveSettings.class)
class LiveConfiguration implements WebMvcConfigurer {

	@Override
	public void addCorsMappings(CorsRegistry registry) {
		registry.addMapping("/**").allowedOriginPatterns("http://localhost:[*]", "http://127.0.0.1:[*]");
	}

}
