// What the tests use of Node, which has its own types elsewhere.

declare module "node:test" {
	export default function test(name: string, run: () => void | Promise<void>): void;
}

declare module "node:assert/strict" {
	interface Assert {
		(value: unknown, message?: string): asserts value;
		equal(actual: unknown, expected: unknown, message?: string): void;
		deepEqual(actual: unknown, expected: unknown, message?: string): void;
		rejects(promise: Promise<unknown>, error?: RegExp): Promise<void>;
	}
	const assert: Assert;
	export default assert;
}
