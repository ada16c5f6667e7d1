// What a Run of the lab answers: the mirror of lab.Document, key by key. The page
// computes nothing of what is in it.
//
// Processes and events are counted from 0, lines of the text from 1. A cursor is a
// number of events: at cursor 3 the first three have happened.

import type { KindStyle, Layout } from "./layout";

export interface Doc {
	error?: Fault; // if there is one, nothing else is filled in
	title: string;
	kind: string; // lock, sections, election, transactions or graph
	algorithm: Algorithm;
	names: string[]; // of the lanes, in order: P1; where there are sites, site 1 and so on come first
	steps: boolean; // the lines are done in order, and nothing happens by itself
	unit: number; // ticks in one unit of time; 1 in steps
	network: string;
	badges: string[]; // what the scenario does that the algorithm does not promise to bear
	kinds: KindStyle[]; // of messages
	events: Happening[];
	ended: number; // events from this one on are the verdict when the run was over
	lines: LineEvents[]; // the lines of the schedule, as they are in the text, and what came of each
	layout: Layout; // null of a graph of resources
	keys: Key[]; // key frames; the first is at cursor 0
	deltas: Delta[]; // what changes, in order
	scene: Scene;
	graph?: WaitsFor[]; // of transactions, and of a graph of resources
	measures: Measure[];
	properties: Property[];
	violations: Violation[];
	expects: Expect[];
	svg?: string; // of a graph of resources: its picture
	end: unknown; // what 'stile replay --json' prints
	cut?: Cut;
	early?: string; // if the run ended before the time that the text gives it: when, and why
}

export interface Fault {
	line: number; // 0 if it is not about one
	col: number; // 0 if it is about the whole line
	text: string;
}

export interface Algorithm {
	name: string;
	title: string;
	authors: string;
	year: number;
	paper: string;
	wrong: string;
	weaker: string;
	fixed: string;
	network: string; // the weakest that it is correct on
	deaths: boolean; // it is made for them
	calls?: string; // what a process does that asks, where that is no request that it waits for
}

export interface Happening {
	at: number;
	kind: string;
	proc: number;
	peer: number;
	msg?: number; // the number of the message, from 1 in the order of sending; 0 if there is none
	name?: string; // the kind of the message, the property broken, or a note
	fields?: [string, string][]; // what the message says
	section?: string; // if there are several
	line?: number; // the line that made it happen; 0 if it happened by itself
	part?: boolean; // it is a part of the same step as the event before it
	text: string; // the same in a sentence
}

export interface LineEvents {
	line: number;
	from: number;
	to: number;
}

export interface Key {
	event: number; // the cursor
	states: [string, string][][]; // of each lane, its fields
	status: string[]; // of each process
	waits: string[]; // of each process why it waits; empty if it does not
	timers?: Timer[][]; // of each lane those that run; nothing if none does
}

export interface Timer {
	timer: number;
	section?: string; // if there are several
}

export interface Delta {
	event: number;
	proc: number;
	set?: ([name: string, value: string | null])[];
	status?: string; // if it changes
	wait?: string; // if it changes; empty if it waits no more
	timers?: Timer[]; // if they change: all that run now
}

export interface Scene {
	shape: string; // as algorithm.Shape has it, or sites
	title: string; // what the picture shows, in a few words
	places: Place[]; // of each lane
	links: Link[];
	groups: Group[]; // whom each asks, the sections, or what is at each site
	locks?: Place[]; // where locks are, if there are sites, or resources
	locknames?: string[]; // and what they are called
	units?: number[]; // of a graph of resources: how many there are of each
	pointer?: string; // an arrow to a process
	next?: string; // another arrow, to who comes after it
	queue?: string; // who waits at this process
	token?: string; // it has the token, unless its value is no
	awaited?: string[]; // from whom it still needs something: the first of these that names somebody
	got?: string; // whose answers it has
	votes?: string; // whom it has voted for
	number?: string; // a ticket, a flag, or a round
	members?: string; // who takes part, if that changes
	fresh?: string; // if yes, it is new and takes part in nothing yet
}

export interface Place {
	x: number;
	y: number;
}

export interface Link {
	from: number;
	to: number;
}

export interface Group {
	name: string;
	members: number[];
	procs?: number[];
	locks?: number[];
}

export interface WaitsFor {
	event: number;
	edges: Edge[];
	cycles: number[][];
}

export interface Edge {
	from: number;
	to: number;
	label: string;
}

export interface Measure {
	name: string;
	here: string;
	theory: string; // empty if it says nothing
	formula: string; // in N
	fits: boolean; // theory says nothing, or allows what was counted
}

export interface Property {
	name: string;
	holds: boolean;
	event: number; // the event that broke it, or that shows what it leaves open; -1 if there is none
	text: string; // what it means, or how it broke
}

export interface Violation {
	event: number; // the event that says so
	property: string;
	text: string;
}

export interface Expect {
	line: number; // 0 for what is expected without being said
	ok: boolean;
	want: string;
	got: string; // if it came otherwise
}

export interface Cut {
	events: number; // how many are shown
	text: string; // what to do
}
