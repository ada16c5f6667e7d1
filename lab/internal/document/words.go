package document

import (
	"strconv"
	"strings"

	"github.com/stile-lock/stile/algorithm"
)

// one parses a process as Machine.Describe writes it.
func one(s string, n int) (algorithm.ID, bool) {
	if s == "" || s[0] < '0' || s[0] > '9' {
		return algorithm.None, false
	}
	x, err := strconv.Atoi(s)
	return algorithm.ID(x - 1), err == nil && x >= 1 && x <= n
}

// many parses a list of processes.
func many(s string, n int) []algorithm.ID {
	var all []algorithm.ID
	for _, w := range strings.Fields(s) {
		if id, ok := one(w, n); ok {
			all = append(all, id)
		}
	}
	return all
}

// voted parses a process, or the process of a stamp such as <42,3>.
func voted(s string, n int) (algorithm.ID, bool) {
	if _, who, ok := strings.Cut(strings.Trim(s, "<>"), ","); ok {
		return one(who, n)
	}
	return one(s, n)
}

// list joins phrases: a, b and c.
func list(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}
