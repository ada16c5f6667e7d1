// Package mistake finds and describes mistakes of an algorithm's author that only show when
// its machines run: a field that is missing from Fields, bytes that do not load.
package mistake

import (
	"fmt"

	"github.com/stile-lock/stile/algorithm/host"
)

// Unreadable returns the error for bytes, a state or a message, that an algorithm wrote
// itself and cannot read: the algorithm's mistake.
func Unreadable(what string, err error) error {
	return fmt.Errorf("%w: it cannot read a %s that it wrote: %v", host.ErrAlgorithm, what, err)
}
