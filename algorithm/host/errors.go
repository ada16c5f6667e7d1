package host

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
)

// The errors of Step say where the fault lies; the documentation of this package
// says what a host must do about each.
var (
	// ErrMalformed is wrapped by every error about bytes that do not decode.
	ErrMalformed = errors.New("malformed bytes")

	// ErrAlgorithm is wrapped by every error about a mistake of the algorithm itself.
	ErrAlgorithm = errors.New("bug in the algorithm")

	// ErrHost is wrapped by every error about an input that a host must not give.
	ErrHost = errors.New("misuse by the host")
)

// Panicked returns the error for a machine that panicked with value. The argument when
// describes the input, as Spec.When does or in other words. A host calls Panicked while
// it recovers, so that the error can name the place in the author's code. It is only for
// panics in machines: a panic in a host is a bug in the host, and must propagate.
func Panicked(when string, value any) error {
	return fmt.Errorf("%w: panic %s: %v%s", ErrAlgorithm, when, value, place())
}

// place returns where the code that is being recovered panicked: the innermost place
// outside this package and package algorithm, which only do what their callers ask for.
func place() string {
	host := reflect.TypeFor[Machine]().PkgPath() + "."
	adapter := strings.TrimSuffix(host, "/host.") + "."
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	panics := false // the frames before belong to the recovering code
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		switch {
		case strings.HasPrefix(f.Function, "runtime."):
			panics = true
		case panics && f.File != "" && !strings.HasPrefix(f.Function, host) && !strings.HasPrefix(f.Function, adapter):
			return fmt.Sprintf(", at %s:%d", f.File[strings.LastIndexByte(f.File, '/')+1:], f.Line)
		}
	}
	return ""
}
