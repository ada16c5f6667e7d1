import "./browser";
import assert from "node:assert/strict";
import test from "node:test";
import { cursor, doc, notice } from "../shown";
import { act, branch, branches, closeBranch, edit, fault, keep, open, redo, restore, settle, switchTo, text, undo } from "../state";
import { docOf } from "./run";

// The lab of these tests: each line of a text that says "event" is one. Calls of a name that is
// held wait until they are let go.
const asked: string[] = [];
let held = "";
let letGo: (() => void)[] = [];

globalThis.fetch = (async (url: string, { body, signal }: { body: string; signal: AbortSignal | null }) => {
	const name = url.replace("api/", "");
	const it = JSON.parse(body) as { text: string; event: number; deed: { verb: string } };
	asked.push(`${name} ${it.text}`);
	if (name === held) await new Promise<void>((go, stop) => {
		letGo.push(go);
		signal?.addEventListener("abort", () => stop(signal.reason as Error));
	});
	const lines = it.text.split("\n").filter((l) => l === "event" || l.startsWith("click"));
	const bad = it.text.split("\n").indexOf("bogus");
	const answer = bad >= 0 ? { error: { line: bad + 1, col: 1, text: "bogus is no line" } }
		: name === "act" ? { text: `${it.text}click ${it.deed.verb} at ${it.event}\n`, line: lines.length + 1, event: it.event + 1 }
		: docOf(2, lines.map(() => ({ kind: "note" })), { title: it.text });
	return new Response(JSON.stringify(answer));
}) as unknown as typeof fetch;

const three = "event\nevent\nevent\n";
const release = async () => {
	held = "";
	for (const go of letGo.splice(0)) go();
	await settle();
};

test("an error leaves the picture as it is", async () => {
	await open(three);
	assert.equal(doc.value?.events.length, 3);
	assert.equal(await edit(`${three}bogus\n`), false);
	assert.deepEqual(fault.value, { line: 4, col: 1, text: "bogus is no line" });
	assert.equal(doc.value?.title, three);
	assert.equal(await edit(`${three}event\n`), true);
	assert.equal(fault.value, undefined);
	assert.equal(doc.value?.events.length, 4);
});

test("undo and redo bring back each text with its cursor", async () => {
	await open("event\n");
	await edit("event\nevent\n", { cursor: 1 });
	await edit(three, { cursor: 3 });
	await edit(`${three}# typed\n`, { keep: true }); // typing is part of the change before it
	for (const want of [["event\nevent\n", 1], ["event\n", 0]] as const) {
		undo();
		await settle();
		assert.deepEqual([text.value, cursor.value], want);
	}
	redo();
	redo();
	await settle();
	assert.deepEqual([text.value, cursor.value], [`${three}# typed\n`, 3]);
	redo(); // there is nothing more
	assert.equal(text.value, `${three}# typed\n`);
	undo();
	await edit("event\nevent\n# other\n");
	redo(); // what was undone is gone
	await settle();
	assert.equal(text.value, "event\nevent\n# other\n");
});

test("only the answer to the newest text is shown", async () => {
	await open("event\n");
	held = "run";
	void edit("event\n# one\n");
	await new Promise((done) => setTimeout(done));
	held = "";
	await edit("event\n# two\nevent\n");
	await release(); // the older answer comes last
	await new Promise((done) => setTimeout(done, 0));
	assert.equal(doc.value?.title, "event\n# two\nevent\n");
});

test("clicks become lines one after the other, each where the one before it ended", async () => {
	await open("event\n");
	held = "act";
	const [one, two] = [act({ verb: "crash", proc: 0 }), act({ verb: "pause", proc: 1 })];
	await new Promise((done) => setTimeout(done));
	await release();
	assert.deepEqual([await one, await two], [true, true]);
	assert.equal(text.value, "event\nclick crash at 0\nclick pause at 1\n");
	assert.equal(cursor.value, 2);
	undo();
	await settle();
	assert.equal(text.value, "event\nclick crash at 0\n");
});

test("a click is a line of the text that it was made in, or of none", async () => {
	await open("event\n");
	held = "act";
	const lost = act({ verb: "crash", proc: 0 });
	await new Promise((done) => setTimeout(done));
	await edit("event\n# changed\n");
	await release();
	assert.equal(await lost, false);
	assert(notice.value.startsWith("The text changed before the click"));
	assert.equal(text.value, "event\n# changed\n");

	held = "act";
	const kept = act({ verb: "crash", proc: 0 });
	await new Promise((done) => setTimeout(done));
	branch();
	await release();
	assert.equal(await kept, true);
	assert.equal(text.value, "event\n# changed\n"); // the branch is as it was made
	switchTo(0);
	await settle();
	assert.equal(text.value, "event\n# changed\nclick crash at 0\n");
	closeBranch(1);
	assert.equal(branches.value.length, 1);
});

test("branches are kept with their texts, cursors and parents", async () => {
	await open(three);
	branch();
	await edit("event\n# one\n", { cursor: 1 });
	branch();
	await edit("event\n# two\n");
	switchTo(0);
	await settle();
	assert.equal(text.value, three);
	const was = keep();
	assert.deepEqual(was.branches.map((b) => b.text), [three, "event\n# one\n", "event\n# two\n"]);
	assert.deepEqual(was.branches.map((b) => b.parent), [-1, was.branches[0]!.id, was.branches[1]!.id]);
	closeBranch(2);
	closeBranch(1);
	closeBranch(0); // the first one stays
	assert.equal(branches.value.length, 1);
	assert.equal(restore(was, "another text"), false);
	assert.equal(restore(was, three), true);
	switchTo(1);
	await settle();
	assert.deepEqual([text.value, cursor.value], ["event\n# one\n", 1]);
	closeBranch(1); // who was in it is in the one before it
	await settle();
	assert.equal(text.value, three);
	assert.equal(branches.value.length, 2);
	closeBranch(1);
});
