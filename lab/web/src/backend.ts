// How the page calls the lab: one Backend, which is a server or, in the static build, a
// worker. Both return the same lines. A page that is one file holds its only answers.

import type { Fault } from "./document";
import { Recorded } from "./recorded";
import { Server } from "./server";
import { Workers } from "./workers";

/** The answer to a call that fails. */
export interface Refusal {
	error: Fault;
}

/** What answers the calls of the page. */
export interface Backend {
	/** What to check when it is out of reach. */
	readonly advice: string;
	/**
	 * The only answer to a call. It waits until there is one, however often the backend
	 * goes away meanwhile, and rejects only when signal is aborted.
	 */
	call<T = unknown>(name: string, body: unknown, signal?: AbortSignal): Promise<T | Refusal>;
	/**
	 * Every line of a call that has many. If the backend goes away after the first line,
	 * the call is not restarted: it rejects with a Lost. Aborting signal ends it, on both
	 * sides.
	 */
	stream<T = unknown>(name: string, body: unknown, onLine: (line: T | Refusal) => void, signal: AbortSignal): Promise<void>;
}

/** Whether an answer says that the call failed. */
export function refused(answer: unknown): answer is Refusal {
	return typeof answer === "object" && answer !== null && "error" in answer && Boolean(answer.error);
}

/** The backend that index.html names: <meta name="stile-backend" content="server">, "worker" or "file". */
export function backend(): Backend {
	const meta = document.querySelector<HTMLMetaElement>('meta[name="stile-backend"]');
	if (meta?.content === "file") return new Recorded();
	return meta?.content === "worker" ? new Workers("worker.js") : new Server("api/");
}
