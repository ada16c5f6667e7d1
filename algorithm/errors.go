package algorithm

import (
	"errors"
	"fmt"
)

// Errors of Step say whose fault they are; package algorithm's documentation says
// what a host does about each.
var (
	// ErrMalformed is wrapped by every error about bytes that do not decode.
	ErrMalformed = errors.New("malformed bytes")

	// ErrAlgorithm is wrapped by every error about what an algorithm itself
	// has done wrong.
	ErrAlgorithm = errors.New("mistake in the algorithm")

	// ErrHost is wrapped by every error about an input that a host must not
	// give.
	ErrHost = errors.New("mistake of the host")
)

// Unreadable says of bytes that an algorithm has written itself, a state or a
// message, and that cannot be read, whose mistake that is.
func Unreadable(what string, err error) error {
	return fmt.Errorf("%w: a %s that it has written does not load: %v", ErrAlgorithm, what, err)
}
