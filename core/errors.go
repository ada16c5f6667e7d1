package core

import "errors"

// Errors of Step say whose fault they are; package core's documentation says
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
