// A space-time diagram as numbers and words: the mirror of trace.Layout, which documents
// their meaning. The page only paints them.

export interface Layout {
	page: Page;
	window: Window;
	title: Words[]; // its lines, at the top
	part: Words; // the sentence of Window.Part, below the title
	footer: Words[]; // other remarks, below the legend
	lanes: LaneName[]; // one for each process, in order
	kinds: KindStyle[]; // the kinds of messages of the run
	lives: Life[]; // when processes are alive
	bars: Bar[]; // when they wait and are inside
	uprights: Upright[]; // what concerns all lanes: partitions, violations, the focus
	arrows: Arrow[]; // the messages
	dots: Dot[]; // moments at which processes did something
	marks: Mark[]; // what must not be overlooked
	ticks: AxisTick[]; // ticks of the time axis
	axis: Words; // what the axis counts
	legend: Sample[]; // what occurs in the picture and needs a word
	leftout: number; // number of labels of arrows that found no room
}

export interface Page {
	width: number; // of the whole picture
	height: number; // of the whole picture
	left: number; // from the left edge to the beginning of the plot
	plot: number; // width of the plot; what extends beyond it is not shown
	top: number; // from the upper edge to the first lane
	pitch: number; // from lane to lane
	axis: number; // from the upper edge to the time axis
}

/**
 * The part of the run that is shown: a moment is at margin + (at-from)*room/(to-from),
 * right of the beginning of the plot.
 */
export interface Window {
	from: number; // first tick shown
	to: number; // last tick shown; always after from
	end: number; // when the run ended
	unit: number; // ticks in one unit of time; 1 in a run that is counted in steps
	margin: number; // position of from
	room: number; // distance from there to the position of to
	whole: boolean; // it is the whole run
	messages: number; // number shown
	allmessages: number;
	entries: number; // number shown
	allentries: number;
	part: string; // all of this as a sentence
}

export interface Point {
	x: number; // right of the beginning of the plot
	lane: number; // a lane, from 0
	dy: number; // below that lane
}

export interface Offset {
	x: number;
	y: number;
}

export interface Words {
	text: string;
	x: number; // its beginning
	y: number; // its baseline
}

export interface Label {
	text: string;
	at: Point; // on its baseline
	anchor: string; // end of the text that is there: start, middle or end
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
	dy: number; // from the lane down to the baseline
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
	to: number; // ticks; the end of the run if it continues
	open: boolean; // it continues after the end of the run
	x1: number;
	x2: number;
	height: number; // height, half of it above the lane
	entry: number; // BarInside: ordinal number of this entry in the run, from 1
	label?: Label;
	tip: string; // the same as a sentence
}

export interface Arrow {
	message: number; // its number
	kind: number; // index in Layout.Kinds
	sent: number; // ticks; -1 if it was sent before the trace begins
	ended: number; // ticks; -1 if it has not ended
	from: Point; // at the edge of the plot if it was sent before the window
	to: Point; // at the edge of the plot if it ends after the window
	bend: Offset[]; // none: a straight line. One: a quadratic curve, the control point this far from the middle between From and To. Two: a cubic curve, the control points this far from From and from To.
	end: string; // EndArrives, EndLost or EndOpen
	copy: boolean; // made by the network
	relation: string; // RelationPast, RelationFuture, RelationConcurrent; empty without a focus
	label?: Label;
	tip: string; // description
}

export interface Dot {
	at: Point;
	steps: number[]; // Event.Step of everything it did at that moment
	relation: string; // empty without a focus
	tip: string; // what it did, one sentence per line
	clock?: Clock; // its logical clocks after that, if requested
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
	x: number; // right of the beginning of the plot
	y1: number; // from the upper edge of the page
	y2: number;
	label?: Label;
	tip: string;
}

export interface AxisTick {
	at: number; // ticks
	x: number; // right of the beginning of the plot
	text: string;
}

export interface Sample {
	shows: string; // SampleArrow and so on
	means?: string; // which end, bar, mark or upright
	kind: number; // SampleArrow: index in Layout.Kinds; -1 otherwise
	text: string;
	x: number; // where the sample begins
	y: number; // its middle
	textx: number;
	texty: number; // baseline of the words
}

export interface KindStyle {
	name: string;
	letter: string; // short name, used where there is no room for its name
	colour: string; // on white
	dark: string; // on a dark page
	dash: string; // lengths of dashes and gaps in pixels; empty means a solid line
	heavy: boolean; // wide line: the token
	slot: number; // its number among all styles
}

export interface Clock {
	time: number; // Lamport time: one more than everything in its past
	vector: number[]; // number of events of each process in its past, this one included
}
