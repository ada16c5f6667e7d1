// Server-sent events, as in the HTML standard, read from a response: a page that reads them
// itself can say who asks, and sees whether events are missing.

/** An event; the texts that it does not have are empty. */
export interface Sent {
	id: string;
	kind: string;
	data: string;
}

/** A Parser turns pieces of a stream, which may end anywhere, into events. */
export class Parser {
	private rest = "";
	private event: Sent = { id: "", kind: "", data: "" };
	private lines = 0; // of data

	/** push returns the events that a piece completes. */
	push(piece: string): Sent[] {
		const text = this.rest + piece;
		const found: Sent[] = [];
		let from = 0;
		for (const end of text.matchAll(/\r\n|\n|\r/g)) {
			if (end[0] === "\r" && end.index === text.length - 1) break; // a line feed may follow
			const done = this.line(text.slice(from, end.index));
			if (done) found.push(done);
			from = end.index + end[0].length;
		}
		this.rest = text.slice(from);
		return found;
	}

	// line reads a line, and returns the event if that ends one.
	private line(line: string): Sent | undefined {
		if (line === "") {
			const { event, lines } = this;
			[this.event, this.lines] = [{ id: "", kind: "", data: "" }, 0];
			return lines > 0 ? event : undefined;
		}
		const colon = line.indexOf(":");
		if (colon === 0) return undefined; // a comment
		const name = colon < 0 ? line : line.slice(0, colon);
		const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
		if (name === "data") this.event.data += (this.lines++ > 0 ? "\n" : "") + value;
		if (name === "event") this.event.kind = value;
		if (name === "id") this.event.id = value;
		return undefined;
	}
}
