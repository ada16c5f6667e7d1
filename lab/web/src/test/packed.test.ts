import "./browser";
import assert from "node:assert/strict";
import test from "node:test";
import { fragment, unpack } from "../packed";
import { pieces } from "../colours";
import { all as keys } from "../keys";
import { amounts } from "../arcs";
import { named } from "../stage";

test("an address holds a text and a cursor", async () => {
	for (const it of [{ text: "algorithm raymond\nprocesses 3\n", cursor: 21 }, { text: "title Żeton ż 👍 #&%\n", cursor: 0 }, { text: "x".repeat(100_000), cursor: 1 }]) {
		const hash = await fragment(it);
		assert(/^#s=[\w-]+&c=\d+$/.test(hash), hash);
		assert.deepEqual(await unpack(hash), it);
		assert.deepEqual(await unpack(hash.replace(/&c=.*/, "&c=-1")), { ...it, cursor: 0 });
		await assert.rejects(unpack(hash.slice(0, hash.length / 2)));
	}
	assert.equal(await unpack(""), undefined);
	assert.equal(await unpack("#other=1"), undefined);
	await assert.rejects(unpack("#s=a*b"), /invalid/);
	await assert.rejects(unpack(await fragment({ text: "x".repeat(2_000_001), cursor: 0 })), /too long/);
});

test("a line in colours is the line", () => {
	const lines = ["", "  ", "title At P1: 3 # no comment", "at 0.5 P1 asks # soon", "deliver 1 -> 2 REQUEST", "expect entries 1 2", 'when P2 enters say "P2 is inside # not"', "# all", "partition 1,2 | 3", "set P1 clock 41", "a#b"];
	for (const line of lines) assert.equal(pieces(line).map((p) => p.text).join(""), line);
	const looks = (line: string) => pieces(line).filter((p) => p.text.trim()).map((p) => `${p.look}:${p.text.trim()}`);
	assert.deepEqual(looks("at 0.5 P1 asks # soon"), ["word:at", "time:0.5", "proc:P1", "word:asks", "comment:# soon"]);
	assert.deepEqual(looks("deliver 1 -> 2 REQUEST").at(-1), "kind:REQUEST");
});

test("each key does one thing, and the help has all of them", () => {
	const used = keys.flatMap((k) => k.keys);
	assert.equal(new Set(used).size, used.length);
	for (const k of keys) assert(k.shown !== "" && k.does !== "", k.keys.join());
	for (const key of ["ArrowRight", "ArrowLeft", "Home", "End", " ", "e", "v", "u", "r", "g", "n", "k", "o", "x", "?", "Ctrl+z", "Ctrl+y", "PageDown"]) assert(used.includes(key), key);
});

test("values of states name processes and units", () => {
	assert.deepEqual(["2 4", "<7,3>", "none", "no", "yes", "", "P2"].map(named), [[1, 3], [2], [], [], [], [], [1]]);
	assert.deepEqual(amounts("2 R1, 1 R3"), [{ resource: 0, units: 2 }, { resource: 2, units: 1 }]);
});
