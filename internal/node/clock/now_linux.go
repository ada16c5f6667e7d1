//go:build linux && !amd64

package clock

import "github.com/stile-lock/stile/internal/member"

// Now reads the clock.
func Now() member.Instant { return ask() }
