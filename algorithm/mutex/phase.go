package mutex

import "github.com/stile-lock/stile/algorithm"

// facts are what the sentences of rules name.
type facts = algorithm.Facts

// ignored returns the rule, the last in each list, for a message that cannot be about
// anything that still matters.
func ignored() algorithm.Rule {
	return algorithm.Rule{ID: "void", Text: "A message that does not apply changes nothing.", Why: "{self} ignores {who}: the message does not apply", Silent: true}
}

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
