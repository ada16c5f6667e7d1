package algorithm

import (
	"errors"
	"fmt"
)

// The errors of Step say where the fault lies; the documentation of package algorithm
// says what a host must do about each.
var (
	// ErrMalformed is wrapped by every error about bytes that do not decode.
	ErrMalformed = errors.New("malformed bytes")

	// ErrAlgorithm is wrapped by every error about a mistake of the algorithm itself.
	ErrAlgorithm = errors.New("mistake in the algorithm")

	// ErrHost is wrapped by every error about an input that a host must not give.
	ErrHost = errors.New("mistake of the host")
)

// Unreadable returns the error for bytes, a state or a message, that an algorithm wrote
// itself and cannot read: the algorithm's mistake.
func Unreadable(what string, err error) error {
	return fmt.Errorf("%w: a %s that it has written does not load: %v", ErrAlgorithm, what, err)
}
