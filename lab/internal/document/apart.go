package document

import (
	"strconv"
	"strings"

	"github.com/stile-lock/stile/algorithm/host"
)

// apart gives fields of equal names distinct ones: the second one named state becomes
// state (2).
func apart(fields []host.Field) []host.Field {
	for i := range fields {
		name, n := fields[i].Name, 1
		for j := range i {
			if f := fields[j].Name; f == name || strings.HasPrefix(f, name) && isAgain(f[len(name):]) {
				n++
			}
		}
		if n > 1 {
			fields[i].Name = name + " (" + strconv.Itoa(n) + ")"
		}
	}
	return fields
}

// isAgain reports whether s is a suffix that apart appends to a name.
func isAgain(s string) bool { return strings.HasPrefix(s, " (") && strings.HasSuffix(s, ")") }
