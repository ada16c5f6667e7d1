package algorithm

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
)

// Panicked returns the error for a machine that panicked with value. The argument when
// describes the input, as [Spec.When] does or in other words. A host calls Panicked while
// it recovers, so that the error can name the place in the author's code. It is only for
// panics in machines: a panic in a host is a bug in the host, and must propagate.
func Panicked(when string, value any) error {
	return fmt.Errorf("%w: it panics %s: %v%s", ErrAlgorithm, when, value, place())
}

// place returns where the code that is being recovered panicked: the innermost place
// outside this package, which only does what its callers ask for.
func place() string {
	own := reflect.TypeFor[Machine]().PkgPath() + "."
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	panics := false // the frames before belong to the recovering code
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		switch {
		case strings.HasPrefix(f.Function, "runtime."):
			panics = true
		case panics && f.File != "" && !strings.HasPrefix(f.Function, own):
			return fmt.Sprintf(", at %s:%d", f.File[strings.LastIndexByte(f.File, '/')+1:], f.Line)
		}
	}
	return ""
}

// When describes in words that a machine of the algorithm takes an input, such as "when
// it gets OK of P2".
func (s Spec) When(in Input) string {
	peer, who, asks, leaves := in.From.String(), "its application", "asks", "leaves"
	if s.Family == Transactions {
		peer, who = fmt.Sprintf("site %d", in.From+1), in.From.String()
		asks, leaves = fmt.Sprintf("asks for L%d", in.Arg+1), "commits"
	}
	switch in.Kind {
	case Start:
		return "when it starts"
	case Request:
		return "when " + who + " " + asks
	case Release:
		return "when " + who + " " + leaves
	case Receive:
		kind := "nothing"
		if len(in.Bytes) > 0 {
			kind = called(s.Kinds, in.Bytes[0])
		}
		return "when it gets " + kind + " of " + peer
	case Expire:
		return fmt.Sprintf("when timer %d runs out", in.Timer)
	case Suspect:
		return "when it is told that " + peer + " is dead"
	case Hear:
		return "when it hears the clock of another"
	case Claim:
		return fmt.Sprintf("when %s claims L%d", who, in.Arg+1)
	case Abort:
		return "when " + who + " aborts"
	case Trust:
		return "when it is told that " + peer + " is back"
	}
	return fmt.Sprintf("on input %d", in.Kind)
}
