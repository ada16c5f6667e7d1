package explore

// A Model is something whose every behaviour can be explored: initial states, successors,
// and the properties violated in each. States are bytes; equal states have equal bytes.
type Model interface {
	// Worker returns a worker to explore with. Each worker is used by one goroutine at a
	// time.
	Worker() Worker
}

// A Worker makes states. What it passes to emit is valid only until emit returns.
type Worker interface {
	// Init emits the initial states, as long as emit returns true.
	Init(emit func(state []byte) bool) error
	// Next emits every step out of a state. It returns the properties that the state
	// itself violates. If it returns an error, what it has emitted and returned is
	// correct, and there may be more.
	Next(state []byte, emit func(s Step, next []byte)) (Broken, error)
}

// A Step is an edge of the state graph.
type Step struct {
	Label  uint32 // what is done, as the model numbers it
	Fair   bool   // a process that can do it forever must eventually do it
	Broken Broken // properties that it violates
	Class  uint32 // number of the fair action, below 1<<30: steps of one class are one action
	Enters int8   // 1 + the process that enters by it, or 0

	// Renaming says which classes the fair actions of the state before it have in the
	// state after it: see Renames. If it is 0, they keep their classes.
	Renaming uint32
}

// Broken is a set of properties.
type Broken uint16

// Waits is implemented by the workers of models in which processes wait for something. It
// returns which processes wait, one bit for each, and which of those have none of their
// messages in flight.
type Waits interface {
	Waiting(state []byte) (waiting, calm uint32)
}

// Renames is implemented by workers whose steps change the classes of fair actions. It
// returns the class that an action has after a step with this renaming, if the action is
// neither taken nor made impossible by the step.
type Renames interface {
	Renamed(renaming, class uint32) uint32
}

// Sized is implemented by models and workers that keep a significant amount of memory of
// their own. It returns how much, in bytes, as well as they can tell. A model's may be
// called at any time, a worker's only while the worker is idle.
type Sized interface {
	Bytes() int64
}

// bytesOf returns the memory that a model or a worker keeps.
func bytesOf(x any) int64 {
	if s, ok := x.(Sized); ok {
		return s.Bytes()
	}
	return 0
}
