package dev.dblock.simulation;

import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.springframework.asm.ClassVisitor;
import org.springframework.asm.Handle;
import org.springframework.asm.Label;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.Opcodes;
import org.springframework.asm.SpringAsmInfo;
import org.springframework.asm.Type;

/**
 * Changes one class for the simulation. In classes of dblock, synchronized methods become
 * calls of the same code under a simulated monitor, and each method begins by reporting
 * its name.
 */
final class InstrumentedClass extends ClassVisitor {

	private static final String REDIRECTS = "dev/dblock/simulation/scheduler/Redirects";

	/** Those of {@code Set.of} and {@code Map.of}, whose order differs in each JVM. */
	static final String COLLECTIONS = "java/util/ImmutableCollections";

	private static final String THREAD = "java/lang/Thread";

	/** Methods that are called in place of those of the same name and parameters. */
	private static final Set<String> STATIC = Set.of("java/lang/System.nanoTime", "java/lang/System.currentTimeMillis",
			"java/util/concurrent/locks/LockSupport.park", "java/util/concurrent/locks/LockSupport.parkNanos",
			"java/lang/Thread.sleep", "jdk/internal/misc/VM.getNanoTimeAdjustment");

	private final boolean ofDblock;

	private String className = "";

	InstrumentedClass(ClassVisitor next, boolean ofDblock) {
		super(SpringAsmInfo.ASM_VERSION, next);
		this.ofDblock = ofDblock;
	}

	@Override
	public void visit(int version, int access, String name, @Nullable String signature, @Nullable String superName,
			String @Nullable [] interfaces) {
		this.className = name;
		super.visit(version, access, name, signature, superName, interfaces);
	}

	@Override
	public @Nullable MethodVisitor visitMethod(int access, String name, String descriptor, @Nullable String signature,
			String @Nullable [] exceptions) {
		boolean monitor = this.ofDblock && (access & Opcodes.ACC_SYNCHRONIZED) != 0
				&& (access & Opcodes.ACC_STATIC) == 0;
		if (!monitor) {
			MethodVisitor next = super.visitMethod(access, name, descriptor, signature, exceptions);
			return (next != null) ? new InstrumentedMethod(next, access, name) : null;
		}
		String body = name + "$body";
		MethodVisitor outer = super.visitMethod(access & ~Opcodes.ACC_SYNCHRONIZED, name, descriptor, signature,
				exceptions);
		int hidden = Opcodes.ACC_PRIVATE | Opcodes.ACC_SYNTHETIC;
		MethodVisitor inner = super.visitMethod(hidden, body, descriptor, signature, exceptions);
		if (outer == null || inner == null) {
			return null;
		}
		callUnderMonitor(outer, body, descriptor);
		return new InstrumentedMethod(inner, hidden, name);
	}

	private void callUnderMonitor(MethodVisitor code, String body, String descriptor) {
		Label begin = new Label();
		Label end = new Label();
		Label failed = new Label();
		code.visitCode();
		code.visitTryCatchBlock(begin, end, failed, null);
		// Others may also come first before the monitor is entered
		code.visitLdcInsn(this.className.replace('/', '.') + "." + body);
		redirect(code, "entered", "(Ljava/lang/String;)V");
		code.visitVarInsn(Opcodes.ALOAD, 0);
		redirect(code, "enterMonitor", "(Ljava/lang/Object;)V");
		code.visitLabel(begin);
		code.visitVarInsn(Opcodes.ALOAD, 0);
		int local = 1;
		for (Type argument : Type.getArgumentTypes(descriptor)) {
			code.visitVarInsn(argument.getOpcode(Opcodes.ILOAD), local);
			local += argument.getSize();
		}
		code.visitMethodInsn(Opcodes.INVOKESPECIAL, this.className, body, descriptor, false);
		code.visitLabel(end);
		code.visitVarInsn(Opcodes.ALOAD, 0);
		redirect(code, "leaveMonitor", "(Ljava/lang/Object;)V");
		code.visitInsn(Type.getReturnType(descriptor).getOpcode(Opcodes.IRETURN));
		code.visitLabel(failed);
		code.visitFrame(Opcodes.F_SAME1, 0, null, 1, new Object[] { "java/lang/Throwable" });
		code.visitVarInsn(Opcodes.ALOAD, 0);
		redirect(code, "leaveMonitor", "(Ljava/lang/Object;)V");
		code.visitInsn(Opcodes.ATHROW);
		code.visitMaxs(local + 3, local);
		code.visitEnd();
	}

	/**
	 * Whether the class reads clocks, pauses and draws random numbers only by the clock
	 * that it is given.
	 */
	private boolean isEngine() {
		return this.className.startsWith("dev/dblock/core/");
	}

	private static void redirect(MethodVisitor code, String method, String descriptor) {
		code.visitMethodInsn(Opcodes.INVOKESTATIC, REDIRECTS, method, descriptor, false);
	}

	private static boolean isStatic(String owner, String name) {
		return STATIC.contains(owner + "." + name);
	}

	/**
	 * Changes one method.
	 */
	private final class InstrumentedMethod extends MethodVisitor {

		private final String name;

		private final boolean reported;

		/** How many instructions of the creation of a thread are left out. */
		private int omitted;

		InstrumentedMethod(MethodVisitor next, int access, String name) {
			super(SpringAsmInfo.ASM_VERSION, next);
			this.name = name;
			// Sets of an enum ask for its values only once
			this.reported = InstrumentedClass.this.ofDblock && !name.startsWith("<") && !name.equals("values")
					&& (access & Opcodes.ACC_BRIDGE) == 0;
		}

		/**
		 * Whether this method initializes a class, or computes a value of a class or one
		 * that a class keeps.
		 */
		private boolean isInitializer() {
			return InstrumentedClass.this.ofDblock
					&& (this.name.equals("<clinit>") || this.name.equals("computeValue") || isSearchForLibraries());
		}

		private boolean isSearchForLibraries() {
			return InstrumentedClass.this.className.equals("dev/dblock/execution/PendingTypes")
					&& this.name.startsWith("lambda$new$");
		}

		@Override
		public void visitCode() {
			super.visitCode();
			if (this.reported && !isInitializer()) {
				visitLdcInsn(InstrumentedClass.this.className.replace('/', '.') + "." + this.name);
				redirect(this, "entered", "(Ljava/lang/String;)V");
			}
			if (isInitializer()) {
				redirect(this, "beginInitializer", "()V");
			}
		}

		@Override
		public void visitMaxs(int stack, int locals) {
			super.visitMaxs(stack + 1, locals);
		}

		@Override
		public void visitTypeInsn(int opcode, String type) {
			if (opcode == Opcodes.NEW && InstrumentedClass.this.ofDblock && type.equals(THREAD)) {
				this.omitted = 1;
			}
			else {
				super.visitTypeInsn(opcode, type);
			}
		}

		@Override
		public void visitInsn(int opcode) {
			if (opcode == Opcodes.DUP && this.omitted > 0) {
				this.omitted = 0;
				return;
			}
			if (isInitializer() && opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN) {
				redirect(this, "endInitializer", "()V");
			}
			boolean enters = opcode == Opcodes.MONITORENTER;
			if (!enters && opcode != Opcodes.MONITOREXIT) {
				super.visitInsn(opcode);
			}
			else if (InstrumentedClass.this.ofDblock) {
				redirect(this, enters ? "enterMonitor" : "leaveMonitor", "(Ljava/lang/Object;)V");
			}
			else {
				redirect(this, enters ? "beginMonitor" : "endMonitor", "()V");
				super.visitInsn(opcode);
			}
		}

		@Override
		public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean ofInterface) {
			if (InstrumentedClass.this.ofDblock && descriptor.equals("(Ljava/lang/Object;)V")
					&& owner.equals("java/lang/ref/WeakReference") && name.equals("<init>")) {
				super.visitInsn(Opcodes.DUP);
				redirect(this, "keep", descriptor);
				super.visitMethodInsn(opcode, owner, name, descriptor, ofInterface);
			}
			else if (isEngine()) {
				super.visitMethodInsn(opcode, owner, name, descriptor, ofInterface);
			}
			else if (isStatic(owner, name)) {
				redirect(this, name, descriptor);
			}
			else if (InstrumentedClass.this.ofDblock && owner.equals(THREAD) && name.equals("<init>")) {
				redirect(this, "thread", descriptor.replace(")V", ")Ljava/lang/Thread;"));
			}
			else if (name.equals("newThread") && owner.equals("java/util/concurrent/ThreadFactory")) {
				redirect(this, name, withFirst("Ljava/util/concurrent/ThreadFactory;", descriptor));
			}
			else if (!InstrumentedClass.this.ofDblock || !redirectOfDblock(owner, name, descriptor)) {
				super.visitMethodInsn(opcode, owner, name, descriptor, ofInterface);
			}
		}

		@Override
		public void visitFieldInsn(int opcode, String owner, String name, String descriptor) {
			boolean order = opcode == Opcodes.GETSTATIC && owner.equals(COLLECTIONS);
			if (order && name.equals("SALT32L")) {
				visitInsn(Opcodes.LCONST_0);
			}
			else if (order && name.equals("REVERSE")) {
				visitInsn(Opcodes.ICONST_0);
			}
			else {
				super.visitFieldInsn(opcode, owner, name, descriptor);
			}
		}

		private boolean redirectOfDblock(String owner, String name, String descriptor) {
			if (owner.equals("java/util/concurrent/ThreadLocalRandom") && name.equals("nextLong")) {
				redirect(this, name, withFirst("Ljava/util/Random;", descriptor));
				return true;
			}
			if (owner.equals("java/util/concurrent/Executor") && name.equals("execute")) {
				redirect(this, name, withFirst("Ljava/util/concurrent/Executor;", descriptor));
				return true;
			}
			if ((owner.equals("java/util/UUID") && name.equals("randomUUID"))
					|| (owner.equals("java/util/Collections") && name.equals("shuffle"))) {
				redirect(this, name, descriptor);
				return true;
			}
			return false;
		}

		private static String withFirst(String type, String descriptor) {
			return "(" + type + descriptor.substring(1);
		}

		@Override
		public void visitInvokeDynamicInsn(String name, String descriptor, Handle bootstrap, Object... arguments) {
			Object[] redirected = arguments.clone();
			for (int i = 0; i < redirected.length; i++) {
				if (redirected[i] instanceof Handle handle && isStatic(handle.getOwner(), handle.getName())) {
					redirected[i] = new Handle(handle.getTag(), REDIRECTS, handle.getName(), handle.getDesc(), false);
				}
			}
			super.visitInvokeDynamicInsn(name, descriptor, bootstrap, redirected);
		}

	}

}
