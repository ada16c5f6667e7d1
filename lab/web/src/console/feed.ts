// A feed keeps a view of the node up to date: a document first, then what changes. It asks for
// the document again if anything is missing, and for as long as it is needed.

import { effect, signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { pause } from "../link";
import { told } from "./clock";
import { Refused, awake, contact, greet, headers, knocks, lost, news, reach, refusal, until } from "./contact";
import { merged } from "./patch";
import { Parser, type Sent } from "./sse";
import type { View } from "./views";

const quiet = 15_000; // ms without a sign of life after which a stream is given up: there is one every 5 s

/** Why a stream is begun anew, although nothing is wrong with the node. */
class Again extends Error {
	override name = "Again";
}

export class Feed<T extends View> {
	/** The document; undefined until the first has arrived. */
	readonly doc = signal<T | undefined>(undefined);
	/** Why the document may be out of date, or why there is none; empty if nothing is wrong. */
	readonly trouble = signal("");
	private readonly end = new AbortController();
	private readonly address: string;

	/** The first feed of a page says whether the node can be reached; others only try. */
	constructor(view: string, parameters: Record<string, string>, private readonly first: boolean) {
		const query = new URLSearchParams({ view });
		for (const [name, value] of Object.entries(parameters)) if (value !== "") query.set(name, value);
		this.address = `api/stream?${query.toString()}`;
		queueMicrotask(() => void this.run().catch(() => {})); // rejected once it is closed
	}

	close(): void {
		this.end.abort();
	}

	private async run(): Promise<void> {
		for (let tries = 0; ; tries++) {
			const knock = knocks.value;
			let began = false;
			try {
				await until(() => awake.value, this.end.signal);
				if (this.first) await greet(this.end.signal, tries > 0);
				await this.read(() => (began = true));
				return; // nothing will change
			} catch (err) {
				this.end.signal.throwIfAborted();
				if (began) tries = 0;
				const wait = this.fails(err);
				if (wait === "a token") await until(() => knocks.value !== knock, this.end.signal);
				else await pause(wait === "a while" ? Infinity : tries, this.end.signal);
			}
		}
	}

	// fails says why there is no news, and returns what to wait for.
	private fails(err: unknown): "a token" | "a while" | "a moment" {
		if (err instanceof Again) return "a moment";
		const why = err instanceof Error ? err.message : String(err);
		if (err instanceof Refused && err.status === 401) {
			contact.value = { state: "stranger", why };
			return "a token";
		}
		this.trouble.value = why;
		if (err instanceof Refused && err.status < 500) { // it is there, and will not
			if (this.first && err.status === 403) contact.value = { state: "denied", why };
			else if (this.first) news();
			return "a while";
		}
		if (this.first) lost(why, err instanceof Refused);
		return "a moment";
	}

	// read reads the stream to its end, which comes if nothing will change.
	private async read(began: () => void): Promise<void> {
		const cut = new AbortController();
		const stop = effect(() => {
			if (!awake.value) cut.abort(new Again("the page is not looked at"));
		});
		let watch: ReturnType<typeof setTimeout>;
		const alive = () => {
			clearTimeout(watch);
			watch = setTimeout(() => cut.abort(new Error(`nothing was heard for ${quiet / 1000} s`)), quiet);
		};
		try {
			alive();
			const response = await reach(this.address, { headers: headers({ Accept: "text/event-stream" }), signal: AbortSignal.any([this.end.signal, cut.signal]) });
			if (!response.ok) throw await refusal(response);
			const parser = new Parser();
			let last = 0;
			for await (const piece of pieces(response)) {
				alive();
				if (this.first) news();
				for (const sent of parser.push(piece)) {
					if (sent.id !== String(++last)) throw new Again(`event ${last} is missing`);
					if (this.take(sent)) return;
					began();
				}
			}
			throw new Error("the node has ended the stream");
		} catch (err) {
			cut.signal.throwIfAborted(); // the reason says more
			throw err;
		} finally {
			clearTimeout(watch!);
			stop();
			cut.abort();
		}
	}

	// take takes an event, and returns whether it is the last.
	private take({ kind, data }: Sent): boolean {
		const it = JSON.parse(data) as unknown;
		if (kind === "error") {
			const { error, reason, final } = it as { error: string; reason?: string; final?: boolean };
			if (final) throw new Refused(reason === "denied" ? 403 : 503, error);
			this.trouble.value = error;
			return false;
		}
		if (kind === "delta" && this.doc.value === undefined) throw new Again("there is nothing to change yet");
		const next = (kind === "delta" ? merged(this.doc.value, it) : it) as T & { done?: boolean };
		told(next.at_ms);
		this.trouble.value = "";
		this.doc.value = next;
		return next.done === true;
	}
}

/** pieces yields the text of a response as it arrives. */
async function* pieces(response: Response): AsyncGenerator<string> {
	const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
	try {
		for (;;) {
			const { done, value } = await reader.read().catch((err: unknown) => {
				throw err instanceof TypeError ? new Error("the connection was lost") : err;
			});
			if (done) return;
			yield value;
		}
	} finally {
		await reader.cancel().catch(() => {});
	}
}

/** useFeed keeps a view for as long as a part of the page shows it. */
export function useFeed<T extends View>(view: string, parameters: Record<string, string> = {}, first = true): Feed<T> {
	const feed = useMemo(() => new Feed<T>(view, parameters, first), [view, JSON.stringify(parameters)]);
	useEffect(() => () => feed.close(), [feed]);
	return feed;
}
