package explore

// A Model is something whose every behaviour can be explored: initial states,
// successors, and what is broken where. States are bytes; equal states have
// equal bytes.
type Model interface {
	// Worker returns something that explores. Each worker is used by one
	// goroutine at a time.
	Worker() Worker
}

// A Worker makes states. What it passes to emit is only valid until emit
// returns.
type Worker interface {
	// Init emits the initial states, as long as emit says to go on.
	Init(emit func(state []byte) bool) error
	// Next emits every step out of a state. It returns the properties that
	// the state itself breaks. With an error, what it has emitted and returned
	// is right, and there may be more.
	Next(state []byte, emit func(s Step, next []byte)) (Broken, error)
}

// A Step is an edge of the state graph.
type Step struct {
	Label  uint32 // what is done, as the model numbers it
	Fair   bool   // whoever can do it for ever must do it in the end
	Broken Broken // the properties that doing it breaks
	Class  uint32 // which fair action it is, below 1<<30: steps of one class are one action
	Enters int8   // 1 + the process that gets in by it, or 0
}

// Broken is a set of properties.
type Broken uint16

// Waits is implemented by the workers of models in which processes wait for
// something. It returns, one bit for each process, which do, and which of
// those have none of their messages under way.
type Waits interface {
	Waiting(state []byte) (waiting, calm uint32)
}

// Sized is implemented by models and workers that keep more than a little
// memory of their own. It returns how much, in bytes, as well as they can tell.
// That of a model may be called at any time, that of a worker only while it is
// not at work.
type Sized interface {
	Bytes() int64
}

// bytesOf returns what a model or a worker keeps.
func bytesOf(x any) int64 {
	if s, ok := x.(Sized); ok {
		return s.Bytes()
	}
	return 0
}
