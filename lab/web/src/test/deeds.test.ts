import "./browser";
import assert from "node:assert/strict";
import test from "node:test";
import { effect } from "@preact/signals-core";
import { forMessage, forProcess, movesOf } from "../deeds";
import type { Doc } from "../document";
import { cursor, doc, group, jump, nextOf, notice } from "../shown";
import { busy } from "../state";
import { becomes, docOf, receive, send } from "./run";

/** offered returns the labels of a menu at the end of a run, or at a cursor. */
function offered(d: Doc, of: (d: Doc) => { items: { label: string }[] }, at = d.events.length): string[] {
	doc.value = d;
	cursor.value = at;
	return of(d).items.map((i) => i.label);
}

test("a message can do what it can do now, and nothing else", () => {
	const steps = { steps: true };
	const one = [{ kind: "ask", proc: 0 }, send(1, 0, 1)];
	const two = [...one, { kind: "ask", proc: 0 }, send(2, 0, 1)];
	const message = (msg: number) => (d: Doc) => forMessage(d, msg);
	for (const [what, d, msg, want] of [
		["alone", docOf(2, one, steps), 1, "arrives now, is lost, arrives twice"],
		["the first of two", docOf(2, two, steps), 1, "arrives now, is lost, arrives twice, is overtaken by the next one"],
		["the second of two", docOf(2, two, steps), 2, "arrives now, is lost, arrives twice, overtakes the messages ahead of it"],
		["to a paused process", docOf(2, one, { ...steps, deltas: [becomes(2, 1, "paused")] }), 1, "is lost, arrives twice"],
		["to a dead process, where it is lost", docOf(2, one, { ...steps, deltas: [becomes(2, 1, "crashed")] }), 1, "arrives now, is lost, arrives twice"],
		["across a cut", docOf(2, [...one, { kind: "partition", proc: -1, name: "P1 | P2" }], steps), 1, "is lost, arrives twice"],
		["beside a cut", docOf(3, [...one, { kind: "partition", proc: -1, name: "P1 P2 | P3" }], steps), 1, "arrives now, is lost, arrives twice"],
		["after a cut has healed", docOf(2, [...one, { kind: "partition", proc: -1, name: "P1 | P2" }, { kind: "heal", proc: -1 }], steps), 1, "arrives now, is lost, arrives twice"],
		["in time", docOf(2, one), 1, "arrives now, takes 1 T longer, takes 5 T longer, is lost, arrives twice, is overtaken by the next one"],
		["that has arrived", docOf(2, [...one, receive(1, 1, 0)], steps), 1, "go back to where it is in flight"],
	] as const) assert.equal(offered(d, message(msg)).join(", "), want, what);
	assert.deepEqual(offered(docOf(2, one, steps), message(1), 0), ["go to where it is sent"]);
});

test("a process can do what its status lets it do", () => {
	const process = (proc: number) => (d: Doc) => forProcess(d, proc);
	const of = (status: string, more: Partial<Doc> = {}) => offered(docOf(3, [{ kind: "note" }], { deltas: [becomes(1, 0, status)], ...more }), process(0));
	assert.deepEqual(of("idle").slice(0, 3), ["asks", "crashes", "pauses"]);
	assert.deepEqual(of("waiting").slice(0, 2), ["crashes", "pauses"]);
	assert.deepEqual(of("inside").slice(0, 2), ["leaves", "crashes"]);
	assert.deepEqual(of("crashed")[0], "restarts");
	assert.deepEqual(of("paused").slice(0, 2), ["resumes", "crashes"]);
	assert.deepEqual(of("idle").slice(-2), ["is cut off from the others", "add to a group to cut off"]);
	group.value = [1, 2];
	assert(of("idle").includes("cut off P2, P3 together"));
	group.value = [];
});

test("who has crashed is suspected, and who is back is trusted, once", () => {
	const told = (kind: string) => ({ kind, proc: 0, peer: 1 });
	const about = (...events: { kind: string; proc?: number; peer?: number }[]) =>
		offered(docOf(3, events, { deltas: events.flatMap((e, i) => (e.kind === "crash" ? [becomes(i + 1, 1, "crashed")] : [])) }), (d) => forProcess(d, 0)).filter((s) => /suspects|trusts/.test(s)).join();
	assert.equal(about({ kind: "note" }), "");
	assert.equal(about({ kind: "crash", proc: 1 }), "suspects that P2 has crashed");
	assert.equal(about({ kind: "crash", proc: 1 }, told("suspect")), "");
	assert.equal(about(told("suspect")), "trusts P2 again");
	assert.equal(about(told("suspect"), told("trust")), "");
	assert.equal(about(told("suspect"), { kind: "restart", proc: 0 }), "");
});

test("who crashed in a section is no longer in it", () => {
	const groups = [{ name: "seats", members: [0, 1] }, { name: "films", members: [1, 2] }];
	const enters = { kind: "enter", proc: 1, section: "seats" };
	const sections = (...events: { kind: string; proc: number; section?: string }[]) =>
		offered(docOf(3, events, { kind: "sections", scene: { shape: "complete", title: "", places: [], links: [], groups } }), (d) => forProcess(d, 1)).slice(0, 2);
	assert.deepEqual(sections(enters), ["leaves seats", "asks for films"]);
	assert.deepEqual(sections(enters, { kind: "crash", proc: 1 }, { kind: "restart", proc: 1 }), ["asks for seats", "asks for films"]);
});

test("next moves are those that need no fault, in the order of the network", () => {
	const d = docOf(2, [send(1, 0, 1), send(2, 0, 1), send(3, 1, 0)], { steps: true, deltas: [becomes(1, 0, "waiting")] });
	doc.value = d;
	cursor.value = 3;
	assert.deepEqual(movesOf(d).map((m) => m.label), ["P2 asks", "REQUEST from P1 arrives at P2", "REQUEST from P2 arrives at P1"]);
	assert.equal(movesOf({ ...d, network: "unordered" }).length, 4);

	const asked: unknown[] = []; // of the lab, by what was chosen
	globalThis.fetch = (async (_: string, { body }: { body: string }) => {
		asked.push((JSON.parse(body) as { deed: unknown }).deed);
		return new Response(JSON.stringify({ error: { line: 0, col: 0, text: "no" } }));
	}) as unknown as typeof fetch;
	for (const it of [movesOf(d)[1]!, ...forMessage(d, 2).items.slice(-3), forProcess(d, 1).items[0]!]) it.run();
	return new Promise<void>((done) => effect(() => void (busy.value || done()))).then(() => assert.deepEqual(asked, [
		{ verb: "deliver", msg: 1 }, { verb: "drop", msg: 2 }, { verb: "duplicate", msg: 2 }, { verb: "overtake", msg: 2 }, { verb: "ask", proc: 1 },
	]));
});

test("jumps go to the next entry or violation, and say if there is none", () => {
	doc.value = docOf(2, [{ kind: "ask" }, { kind: "enter" }, { kind: "exit" }, { kind: "lead" }, { kind: "violation" }], { properties: [{ name: "x", holds: false, event: 2, text: "" }] });
	cursor.value = 0;
	assert.deepEqual([0, 2, 4].map((at) => nextOf("entry", at)), [2, 4, -1]);
	assert.deepEqual([0, 3, 5].map((at) => nextOf("violation", at)), [3, 5, -1]);
	cursor.value = 5;
	jump("entry");
	assert.equal(cursor.value, 5);
	assert.equal(notice.value, "No process enters after this.");
});
