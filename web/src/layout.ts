// A space-time diagram as numbers and words: the mirror of trace.Layout, which says
// what they mean and which the page only paints.

export interface Layout {
	page: Page;
	window: Window;
	title: Words[]; // its lines, at the top
	part: Words; // the sentence of Window.Part, below the title
	footer: Words[]; // what else must be said, below the legend
	lanes: LaneName[]; // one for each process, in order
	kinds: KindStyle[]; // the kinds of messages of the run
	lives: Life[]; // when processes are alive
	bars: Bar[]; // when they wait and are inside
	uprights: Upright[]; // what concerns all lanes: cuts, violations, the focus
	arrows: Arrow[]; // the messages
	dots: Dot[]; // the moments at which processes did something
	marks: Mark[]; // what must not be overlooked
	ticks: AxisTick[]; // of the axis of time
	axis: Words; // what the axis counts
	legend: Sample[]; // what occurs in the picture and needs a word
	leftout: number; // how many labels of arrows found no room
}

export interface Page {
	width: number; // of the whole picture
	height: number; // of the whole picture
	left: number; // from the left edge to where the plot begins
	plot: number; // how wide the plot is; what reaches beyond it is not shown
	top: number; // from the upper edge to the first lane
	pitch: number; // from lane to lane
	axis: number; // from the upper edge to the axis of time
}

/** The part of the run that is shown: a moment is at margin + (at-from)*room/(to-from), right of where the plot begins. */
export interface Window {
	from: number; // the first tick that is shown
	to: number; // the last one; always after from
	end: number; // when the run ended
	unit: number; // ticks in one unit of time; 1 in a run that is counted in steps
	margin: number; // where from is
	room: number; // from there to where to is
	whole: boolean; // it is all of the run
	messages: number; // that are shown
	allmessages: number;
	entries: number; // that are shown
	allentries: number;
	part: string; // all this as a sentence
}

export interface Point {
	x: number; // right of where the plot begins
	lane: number; // a lane, from 0
	dy: number; // below that lane
}

export interface Offset {
	x: number;
	y: number;
}

export interface Words {
	text: string;
	x: number; // where it begins
	y: number; // its base line
}

export interface Label {
	text: string;
	at: Point; // on its base line
	anchor: string; // which end of the text is there: start, middle or end
	size: number; // of the type
	box?: Box; // drawn behind it, with round ends, if it lies on an arrow
}

export interface Box {
	at: Point; // its upper left corner
	wide: number;
	high: number;
}

export interface LaneName {
	text: string;
	x: number; // from the left edge of the page
	lane: number;
	dy: number; // from the lane down to the base line
}

export interface Life {
	lane: number;
	from: number; // ticks
	to: number;
	x1: number;
	x2: number;
	paused: boolean;
}

export interface Bar {
	means: string; // BarWaiting, BarInside or BarBroken
	lane: number;
	from: number; // ticks
	to: number; // ticks; the end of the run if it goes on
	open: boolean; // it goes on after the end of the run
	x1: number;
	x2: number;
	height: number; // half of it above the lane
	entry: number; // BarInside: the how manyth entry of the run this is, from 1
	label?: Label;
	tip: string; // the same in a sentence
}

export interface Arrow {
	message: number; // its number
	kind: number; // in Layout.Kinds
	sent: number; // ticks; -1 if it was sent before the trace begins
	ended: number; // ticks; -1 if it has not
	from: Point; // at the edge of the plot if it was sent before the window
	to: Point; // at the edge of the plot if it ends after the window
	bend: Offset[]; // none: a straight line. One: a quadratic curve, the control point this far from the middle between From and To. Two: a cubic curve, the control points this far from From and from To.
	end: string; // EndArrives, EndLost or EndOpen
	copy: boolean; // the network made it
	relation: string; // RelationPast, RelationFuture, RelationConcurrent; empty without a focus
	label?: Label;
	tip: string; // what there is to say of it
}

export interface Dot {
	at: Point;
	steps: number[]; // Event.Step of all that it did at that moment
	relation: string; // empty without a focus
	tip: string; // what it did, a sentence on each line
	clock?: Clock; // its logical clocks after that, if they are wanted
	label?: Label; // the same in words, if there is room
}

export interface Mark {
	means: string;
	at: Point;
	label?: Label;
	tip: string;
}

export interface Upright {
	means: string;
	at: number; // ticks
	x: number; // right of where the plot begins
	y1: number; // from the upper edge of the page
	y2: number;
	label?: Label;
	tip: string;
}

export interface AxisTick {
	at: number; // ticks
	x: number; // right of where the plot begins
	text: string;
}

export interface Sample {
	shows: string; // SampleArrow and so on
	means?: string; // which end, bar, mark or upright
	kind: number; // SampleArrow: in Layout.Kinds; -1 otherwise
	text: string;
	x: number; // where the picture begins
	y: number; // its middle
	textx: number;
	texty: number; // the base line of the words
}

export interface KindStyle {
	name: string;
	letter: string; // what it is called where there is no room for its name
	colour: string; // on white
	dark: string; // on a dark page
	dash: string; // lengths of dashes and gaps in pixels; empty is a full line
	heavy: boolean; // a wide line: the token
	slot: number; // its number among all styles
}

export interface Clock {
	time: number; // Lamport's: one more than all that is in its past
	vector: number[]; // how many events of each process are in its past, this one included
}
