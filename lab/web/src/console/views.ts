// What the node tells the page: its views. Moments are Unix times in ms of the node's clock,
// durations are in seconds. Objects have the keys of what they are about; what is not known
// is left out.

export interface Hello {
	at_ms?: number; // the node's time
	node: string;
	who: string; // the reader, in words
	identity: string; // empty without identities
	reads: boolean;
	administers: boolean;
	algorithms: string[]; // that can be chosen
	nodes?: Elsewhere[]; // where other members serve HTTP
}

/** Another member's console. */
export interface Elsewhere {
	name: string;
	http: string; // origin
}

/** What all views have. */
export interface View {
	at_ms: number;
	silent?: Silent[]; // members that do not answer
}

export interface Silent {
	node: string;
	why: string;
}

export interface Overview extends View {
	node: string;
	cluster: string;
	epoch: number;
	lease_s: number;
	leader?: string;
	term?: number;
	algorithm: string; // all of them, in the form of the flag --algorithm
	ghosts: number; // evicted members whose leases may still run
	members: Record<string, Member>;
	disagree?: string[]; // sentences
	rate: number; // acquisitions per second
	wait?: Quantiles; // of the last interval
	hold?: Quantiles;
	wait_hist?: Histogram; // since the members were started
	hold_hist?: Histogram;
	history?: Record<string, Change>; // view changes, by epoch
	traffic?: Record<string, Record<string, Traffic>>; // frames about locks, from and to
	victims?: Record<string, Victim>;
}

export interface Member {
	name: string;
	address: string;
	incarnation: number;
	voter: boolean;
	linked: boolean;
	state?: string;
	why?: string; // why it takes no part
	epoch?: number;
	leader?: string;
	lease_margin_s?: number; // least time left at a renewal lately; negative if unknown
	lease_left_s?: number;
	clients?: number;
	held?: number;
	waiting?: number;
	known?: number;
	acquired?: number;
	rate?: number;
	lost?: number;
	complains?: string[]; // members that it cannot reach
	heard_ms?: number; // last answer
	error?: string; // why it does not answer
}

export interface Quantiles {
	p50_s: number;
	p99_s: number;
}

export interface Histogram {
	bounds_s: number[]; // upper bounds of the counts; the last count has none
	counts: number[];
}

export interface Change {
	epoch: number;
	at_ms: number;
	cause: string; // evict, leave, join, vote, refresh, found
	text: string; // a sentence
	members: string[];
}

export interface Traffic {
	sent: number;
	rate: number;
}

export interface Victim extends Process {
	at_ms: number;
	tx: number;
	how: string; // cycle, wound, die, timeout
	why: string; // a sentence
	lock?: string;
	cycle?: { node: string; tx: number; lock: string }[];
}

export interface Locks extends View {
	prefix: string;
	sort: string;
	next: string; // after of the next page; empty at the end
	rows: Record<string, LockRow>;
	order: string[];
}

export interface LockRow {
	name: string;
	algorithm: string;
	home: string;
	holder?: Holder;
	holders: number;
	waiters: number;
	waiting_since_ms?: number;
	why?: string;
	rate?: number;
	acquired?: number;
}

/** A process that uses locks, and the node through which it does. */
export interface Process {
	who: string;
	identity?: string;
	label?: string;
	node: string;
	session?: string; // in hexadecimal; missing for the process of the node
}

/** What a holder and a waiter have. */
export interface Party extends Process {
	since_ms: number;
	mode?: string;
	units?: number;
	of?: number;
	tx?: number;
}

export interface Holder extends Party {
	token: string;
	lease_until_ms?: number;
	value?: string;
	delegated?: boolean; // the client acquires the lock by itself; the token is that of its first entry
}

export interface Waiter extends Party {
	why?: string;
}

export interface Lock extends View {
	name: string;
	algorithm?: string;
	kept?: boolean;
	home?: string;
	holders?: Record<string, Holder>;
	waiters?: Record<string, Waiter>;
	order?: string[]; // keys of waiters
	unlisted?: number; // waiters and holders that are not listed
	rate?: number;
	acquired?: number;
	history?: Record<string, Past>;
	yours?: boolean; // the reader administers it
}

export interface Past extends Process {
	token: string;
	from_ms: number;
	to_ms: number;
	end: string; // released, forced, or lost: and why
}

export interface Graph extends View {
	vertices: Record<string, Vertex>;
	edges: Record<string, Edge>;
	deadlocks?: string[][];
	possible?: string[][];
	cut?: boolean; // there is more
	victims?: Record<string, Victim>;
}

export interface Vertex extends Process {
	tx?: number;
	holds?: string[];
}

export interface Edge {
	from: string;
	to: string;
	lock: string;
}

export interface Elections extends View {
	rows: Record<string, Election>;
	order: string[];
}

export interface Election extends Process { // the leader
	name: string;
	value?: string;
	term: string;
	since_ms: number;
	candidates: number;
}

/** The live trace of a lock. */
export interface Trail extends View {
	name: string;
	algorithm?: string;
	seats?: string[]; // node of P1, of P2 and so on
	text?: string; // a scenario
	steps?: number;
	from_ms?: number;
	to_ms?: number;
	done?: boolean;
	why?: string; // why there is none, or why it is not complete
}
