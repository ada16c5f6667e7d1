// A text and a cursor as the fragment of an address: #s=TEXT&c=CURSOR, where TEXT is compressed
// (deflate) and encoded in base64url.

/** The maximum length of an address: some programs cut off longer ones. */
export const longest = 16_000;
/** The maximum length of a text from an address. */
const largest = 2_000_000;

/** The contents of an address. */
export interface Shared {
	text: string;
	cursor: number;
}

/** fragment returns the part of an address that holds a text and a cursor. */
export async function fragment(it: Shared): Promise<string> {
	const bytes = new Blob([it.text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
	const packed = new Uint8Array(await new Response(bytes).arrayBuffer());
	return `#s=${base64url(packed)}&c=${it.cursor}`;
}

/**
 * unpack reads what fragment wrote, and returns undefined if there is no such thing. It
 * throws if that is broken.
 */
export async function unpack(hash: string): Promise<Shared | undefined> {
	const parts = new URLSearchParams(hash.replace(/^#/, ""));
	const packed = parts.get("s");
	if (packed === null) return undefined;
	const at = Number(parts.get("c") ?? 0);
	return { text: await inflate(bytesOf(packed)), cursor: Number.isSafeInteger(at) && at > 0 ? at : 0 };
}

async function inflate(packed: Uint8Array<ArrayBuffer>): Promise<string> {
	const reader = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
	const parts: Uint8Array<ArrayBuffer>[] = [];
	let size = 0;
	for (;;) {
		const { done, value } = await reader.read();
		if (done) break;
		size += value.length;
		if (size > largest) {
			await reader.cancel();
			throw new Error("its text is too long");
		}
		parts.push(value as Uint8Array<ArrayBuffer>);
	}
	return new TextDecoder("utf-8", { fatal: true }).decode(await new Blob(parts).arrayBuffer());
}

function base64url(bytes: Uint8Array): string {
	let raw = "";
	for (const b of bytes) raw += String.fromCharCode(b);
	return btoa(raw).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

function bytesOf(words: string): Uint8Array<ArrayBuffer> {
	if (!/^[\w-]*$/.test(words)) throw new Error("it has invalid characters");
	return Uint8Array.from(atob(words.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
}
