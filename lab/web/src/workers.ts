// The backend of the static build: the lab as WebAssembly, in workers. One of them
// answers the calls, one after the other. A stream has a worker to itself, because it
// computes without a pause and can be ended only together with its worker.

import type { Backend, Refusal } from "./backend";
import { Lost, link, pause } from "./link";

type Message = { ready: true } | { failed: string } | { id: number; line: string } | { id: number; done: true };

interface Waiting {
	onLine(line: string): void;
	onDone(): void;
	onLost(err: Error): void;
}

/** A worker, and the callers that wait for its answers. */
class Hand {
	private readonly worker: Worker;
	private readonly waiting = new Map<number, Waiting>();
	private last = 0;
	private over: Error | undefined;
	readonly ready: Promise<void>;

	constructor(url: string) {
		this.worker = new Worker(url);
		this.ready = new Promise((resolve, reject) => {
			this.worker.onerror = (event) => reject(this.end(event.message || `${url} cannot be loaded`));
			this.worker.onmessage = ({ data }: MessageEvent<Message>) => {
				if ("ready" in data) return resolve();
				if ("failed" in data) return reject(this.end(data.failed));
				const who = this.waiting.get(data.id);
				if ("line" in data) return who?.onLine(data.line);
				this.waiting.delete(data.id);
				return who?.onDone();
			};
		});
		this.ready.catch(() => {}); // reported by ask
	}

	get ended(): boolean {
		return this.over !== undefined;
	}

	/** end stops the worker, and rejects the calls that still wait for it. */
	end(why: string): Error {
		this.over ??= new Lost(why);
		this.worker.terminate();
		for (const who of this.waiting.values()) who.onLost(this.over);
		this.waiting.clear();
		return this.over;
	}

	async ask(name: string, body: unknown, onLine: (line: string) => void): Promise<void> {
		await this.ready;
		return new Promise((resolve, reject) => {
			if (this.over) return reject(this.over);
			const id = ++this.last;
			this.waiting.set(id, { onLine, onDone: resolve, onLost: reject });
			this.worker.postMessage({ id, name, body: JSON.stringify(body) });
		});
	}
}

const longest = 30_000; // maximum duration of a call in milliseconds, as at the server

export class Workers implements Backend {
	readonly advice = "does the web server of this page still have all its files?";
	private hand: Hand | undefined;
	private turn: Promise<unknown> = Promise.resolve(); // resolves when the worker is free

	constructor(private readonly url: string) {}

	call<T>(name: string, body: unknown, signal?: AbortSignal): Promise<T | Refusal> {
		// A call that waits for its turn is not begun at all if it is no longer wanted.
		const answer = this.turn.then(() => this.ask<T>(name, body, signal));
		this.turn = answer.catch(() => {});
		return answer;
	}

	private async ask<T>(name: string, body: unknown, signal?: AbortSignal): Promise<T | Refusal> {
		for (let tries = 0; ; tries++) {
			signal?.throwIfAborted();
			if (!this.hand || this.hand.ended) this.hand = new Hand(this.url);
			try {
				const answer = await this.answer(this.hand, name, body);
				signal?.throwIfAborted();
				link.value = { state: "ready" };
				return answer as T | Refusal;
			} catch (err) {
				signal?.throwIfAborted();
				link.value = { state: "lost", why: err instanceof Error ? err.message : String(err) };
				await pause(tries, signal);
			}
		}
	}

	/**
	 * answer asks for the last line, and terminates a worker that takes too long: nothing
	 * else can stop it.
	 */
	private async answer(hand: Hand, name: string, body: unknown): Promise<unknown> {
		let last = "";
		let late = false;
		await hand.ready; // however long it takes to load
		const clock = setTimeout(() => {
			late = true;
			hand.end("it took too long");
		}, longest);
		try {
			await hand.ask(name, body, (line) => (last = line));
			return JSON.parse(last);
		} catch (err) {
			if (!late) throw err;
			return { error: { line: 0, col: 0, text: `${name} took longer than ${longest / 1000} s: shorten the scenario, or use the command line` } };
		} finally {
			clearTimeout(clock);
		}
	}

	async stream<T>(name: string, body: unknown, onLine: (line: T | Refusal) => void, signal: AbortSignal): Promise<void> {
		signal.throwIfAborted();
		const hand = new Hand(this.url);
		const aborted = new Promise<never>((_, reject) => {
			signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
		});
		try {
			await Promise.race([aborted, hand.ask(name, body, (line) => signal.aborted || onLine(JSON.parse(line) as T | Refusal))]);
		} finally {
			hand.end("the stream ended");
		}
	}
}
