// The answer to the lab's call run: the mirror of document.Document, key by key. The page
// computes nothing of what is in it.
//
// Processes and events are counted from 0, lines of the text from 1. A cursor is a number
// of events: at cursor 3 the first three have happened.

import type { KindStyle, Layout } from "./layout";

export interface Doc {
	error?: Fault; // if set, nothing else is filled in
	title: string;
	kind: string; // lock, sections, election, transactions or graph
	algorithm: Algorithm;
	names: string[]; // names of the lanes, in order: first any sites (site 1, ...), then processes (P1, ...)
	steps: boolean; // lines run in order, and nothing happens by itself
	unit: number; // ticks in one unit of time; 1 in steps
	network: string;
	badges: string[]; // what the scenario does that the algorithm does not promise to tolerate
	kinds: KindStyle[]; // kinds of messages
	events: Happening[];
	ended: number; // first event of the verdict at the end of the run
	lines: LineEvents[]; // lines of the schedule, as in the text, and the events of each
	layout: Layout; // null for a graph of resources
	keys: Key[]; // key frames; the first is at cursor 0
	deltas: Delta[]; // changes, in order
	scene: Scene;
	graph?: WaitsFor[]; // for transactions and graphs of resources
	measures: Measure[];
	properties: Property[];
	violations: Violation[];
	expects: Expect[];
	svg?: string; // picture of a graph of resources
	end: unknown; // output of 'stile-lab replay --json'
	cut?: Cut;
	captions?: Caption[]; // text for the audience, in the order of the run
	accounts?: Account[]; // the shared account, if processes deposit something; the first is at cursor 0
	early?: string; // when and why the run ended, if before the time that the text gives it
}

export interface Fault {
	line: number; // 0 if it concerns no single line
	col: number; // 0 if it concerns the whole line
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
	network: string; // weakest network on which it is correct
	deaths: boolean; // made for crashes
	calls?: string; // what a process that asks does, if not a request that it waits for
	rules?: [id: string, text: string][]; // its rules
}

export interface Happening {
	at: number;
	kind: string;
	proc: number;
	peer: number;
	msg?: number; // message number, from 1 in the order of sending; 0 if there is none
	name?: string; // kind of message, violated property, or note
	fields?: [string, string][]; // fields of the message
	section?: string; // if there are several
	line?: number; // line that caused it; 0 if it happened by itself
	part?: boolean; // part of the same step as the event before it
	text: string; // the event as a sentence
	why?: [rule: string, text: string][]; // why the process does what follows
}

export interface LineEvents {
	line: number;
	from: number;
	to: number;
}

export interface Key {
	event: number; // the cursor
	states: [string, string][][]; // fields of each lane
	status: string[]; // status of each lane
	waits: string[]; // why each lane waits; empty if it does not
	timers?: Timer[][]; // running timers of each lane; absent if no timer runs
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
	wait?: string; // if it changes; empty if it no longer waits
	timers?: Timer[]; // if they change: all that run now
}

export interface Scene {
	shape: string; // as in algorithm.Shape, or sites, or resources
	title: string; // what the picture shows, in a few words
	places: Place[]; // place of each lane
	links: Link[];
	groups: Group[]; // request sets, sections, or contents of each site
	locks?: Place[]; // places of locks, if there are sites, or of resources
	locknames?: string[]; // their names
	units?: number[]; // graph of resources: units of each
	pointer?: string; // an arrow to a process
	next?: string; // another arrow, to its successor
	queue?: string; // processes that wait at this one
	token?: string; // holds the token, unless the value is no
	awaited?: string[]; // processes it still needs something from: the first of these fields that names any
	got?: string; // processes whose answers it has
	votes?: string; // candidates it has voted for
	number?: string; // ticket, flag, or round
	stamp?: string; // time of its own request
	stamps?: string; // times of all requests, by process; 0 is none
	members?: string; // participants, if they change
	fresh?: string; // if yes, it is new and does not take part in anything yet
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
	theory: string; // empty if theory says nothing
	formula: string; // in N
	fits: boolean; // theory says nothing, or allows the counted value
}

export interface Property {
	name: string;
	holds: boolean;
	event: number; // event that violated it, or that shows what it leaves open; -1 if there is none
	text: string; // its meaning, or how it was violated
}

export interface Violation {
	event: number; // event that reports it
	property: string;
	text: string;
}

export interface Expect {
	line: number; // 0 for an expectation that has no line
	ok: boolean;
	want: string;
	got: string; // actual outcome, if it differs
}

export interface Account {
	event: number;
	balance: number;
	lost: number; // deposits that another process has overwritten
	reads: number[]; // processes inside,
	read: number[]; // and the balance that each of them read
}

export interface Caption {
	event: number; // the cursor
	text: string;
	line: number; // 0 if it has none
}

export interface Cut {
	events: number; // number of events shown
	text: string; // what to do
}
