package mutex

import "github.com/stile-lock/stile/algorithm"

// The states of a process, in the words of Ricart and Agrawala.
const (
	released uint8 = iota // neither inside nor requesting
	wanted                // waiting to enter
	held                  // inside
)

// phase codes the state of a process.
func phase(c *algorithm.Coder, p *uint8) {
	c.Uint8("state", p, "RELEASED", "WANTED", "HELD")
}

// born returns the state in which a process starts.
func born(self algorithm.ID, v algorithm.View) uint8 {
	if v.Busy && v.Holder == self {
		return held
	}
	return released
}
