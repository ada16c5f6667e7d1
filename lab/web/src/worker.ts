// The worker of the static build: it loads the lab as WebAssembly and answers {id, name,
// body} with {id, line} for every line, and then {id, done}. Before that it sends {ready}
// or, if the lab cannot be loaded, {failed}.

interface Question {
	id: number;
	name: string;
	body: string;
}

interface Lab {
	Go: new () => { importObject: WebAssembly.Imports; run(instance: WebAssembly.Instance): Promise<void> };
	stileReady(): void;
	stileCall(name: string, body: string, emit: (line: string) => void, done: () => void): void;
}

const lab = globalThis as unknown as Lab;
const say = (message: object) => postMessage(message);

lab.stileReady = () => {
	globalThis.onmessage = ({ data }: MessageEvent<Question>) => {
		const { id, name, body } = data;
		lab.stileCall(name, body, (line) => say({ id, line }), () => say({ id, done: true }));
	};
	say({ ready: true });
};

async function load(): Promise<void> {
	importScripts("wasm_exec.js");
	const response = await fetch("stile.wasm.gz");
	if (!response.ok) throw new Error(`stile.wasm.gz: ${response.status} ${response.statusText}`);
	const go = new lab.Go();
	const { instance } = await WebAssembly.instantiate(await plain(await response.arrayBuffer()), go.importObject);
	await go.run(instance);
	throw new Error("the lab stopped unexpectedly");
}

// plain decompresses what is compressed. If the web server has declared the compression,
// the browser has already decompressed it.
async function plain(data: ArrayBuffer): Promise<ArrayBuffer> {
	const head = new Uint8Array(data, 0, 2);
	if (head[0] !== 0x1f || head[1] !== 0x8b) return data;
	return new Response(new Blob([data]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

load().catch((err: unknown) => say({ failed: err instanceof Error ? err.message : String(err) }));

export {};
