// The backend of 'stile-lab': POST api/NAME, answered by lines of JSON.

import type { Backend, Refusal } from "./backend";
import { Lost, link, pause } from "./link";

export class Server implements Backend {
	readonly advice = "is 'stile-lab' running?";

	constructor(private readonly base: string) {}

	async call<T>(name: string, body: unknown, signal?: AbortSignal): Promise<T | Refusal> {
		for (let tries = 0; ; tries++) {
			try {
				const text = await (await this.post(name, body, signal)).text();
				const answer = JSON.parse(text) as T | Refusal;
				link.value = { state: "ready" };
				return explained(answer);
			} catch (err) {
				await this.lost(err, tries, signal);
			}
		}
	}

	async stream<T>(name: string, body: unknown, onLine: (line: T | Refusal) => void, signal: AbortSignal): Promise<void> {
		let begun = false;
		for (let tries = 0; ; tries++) {
			try {
				const response = await this.post(name, body, signal);
				for await (const line of lines(response)) {
					link.value = { state: "ready" };
					begun = true;
					onLine(JSON.parse(line) as T | Refusal);
				}
				return;
			} catch (err) {
				if (begun && !signal.aborted) {
					link.value = { state: "lost", why: why(err) };
					void this.call("start", {}); // to notice when it is back
					throw new Lost(why(err));
				}
				await this.lost(err, tries, signal);
			}
		}
	}

	private async post(name: string, body: unknown, signal?: AbortSignal): Promise<Response> {
		const response = await fetch(this.base + name, {
			method: "POST",
			headers: { "Content-Type": "application/json" },
			body: JSON.stringify(body),
			credentials: "same-origin", // a node asks for a certificate; there are no cookies
			signal: signal ?? null,
		});
		if (response.status >= 500) throw new Error(`${response.status} ${response.statusText}`);
		return response;
	}

	// lost reports that the server is gone, and waits before the next try.
	private async lost(err: unknown, tries: number, signal?: AbortSignal): Promise<void> {
		signal?.throwIfAborted();
		link.value = { state: "lost", why: why(err) };
		await pause(tries, signal);
	}
}

/** explained returns an answer; a node says in a word why it refuses a call to its lab. */
function explained<T>(answer: T | Refusal): T | Refusal {
	const { error } = answer as { error?: unknown };
	return typeof error === "string" ? { error: { line: 0, col: 0, text: error } } : answer;
}

function why(err: unknown): string {
	return err instanceof Error ? err.message : String(err);
}

// lines yields the lines of an answer, as they arrive. Each ends with a line feed; a line
// without one was cut off.
async function* lines(response: Response): AsyncGenerator<string> {
	const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
	let rest = "";
	try {
		for (;;) {
			const { done, value } = await reader.read();
			if (done) break;
			const parts = (rest + value).split("\n");
			rest = parts.pop()!;
			yield* parts;
		}
	} finally {
		await reader.cancel().catch(() => {});
	}
	if (rest !== "") throw new Error("the answer was cut off");
}
