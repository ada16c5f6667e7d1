package child

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// The variables that tell the command which locks it runs under. The fencing token grows
// with every grant of a lock: a resource that refuses a smaller one than it has seen is
// safe even where no process can be ended in time.
const (
	LockVariable     = "STILE_LOCK"     // name of the first lock
	TokenVariable    = "STILE_TOKEN"    // its token
	TokensVariable   = "STILE_TOKENS"   // tokens of all locks by name, as a JSON object
	HeldVariable     = "STILE_HELD"     // names of these locks and of the outer ones, as a JSON array
	ElectionVariable = "STILE_ELECTION" // of a leader: the name of the election, which is its lock
	TermVariable     = "STILE_TERM"     // of a leader: its term, which is the token
)

// A Lock is a lock that the command runs under.
type Lock struct{ Name, Token string }

// Environ returns the environment with the names and fencing tokens of locks, which replace
// those of outer ones, and with the names of all locks that are held.
func Environ(base []string, first Lock, others ...Lock) []string {
	names, tokens := Held(base), map[string]string{}
	for _, l := range append([]Lock{first}, others...) {
		names, tokens[l.Name] = append(names, l.Name), l.Token
	}
	held, _ := json.Marshal(names) // strings can be encoded
	all, _ := json.Marshal(tokens)
	return with(base, LockVariable, first.Name, TokenVariable, first.Token, TokensVariable, string(all), HeldVariable, string(held))
}

// LeaderEnviron is Environ for the leader of an election.
func LeaderEnviron(base []string, election Lock) []string {
	return with(Environ(base, election), ElectionVariable, election.Name, TermVariable, election.Token)
}

// with returns an environment with variables, given as names and values.
func with(base []string, set ...string) []string {
	env := slices.Clone(base)
	for pair := range slices.Chunk(set, 2) {
		env = slices.DeleteFunc(env, func(v string) bool { return strings.HasPrefix(v, pair[0]+"=") })
		env = append(env, pair[0]+"="+pair[1])
	}
	return env
}

// Held returns the names of the locks that a command with this environment runs under.
func Held(env []string) (names []string) {
	for _, v := range env {
		if list, ok := strings.CutPrefix(v, HeldVariable+"="); ok && json.Unmarshal([]byte(list), &names) != nil {
			return nil // not written by stile
		}
	}
	return names
}

// arguments returns the arguments to run. With a shell, the only argument is a command line
// for the user's shell, as with flock's -c.
func arguments(args []string, shell bool, env []string) ([]string, error) {
	switch {
	case len(args) == 0 || args[0] == "":
		return nil, errors.New("no command to run: name one after --")
	case !shell:
		return args, nil
	case len(args) > 1:
		return nil, fmt.Errorf("a shell takes the command as one argument, but got %d: quote the command", len(args))
	}
	name := "/bin/sh"
	for _, v := range env {
		if value, ok := strings.CutPrefix(v, "SHELL="); ok && value != "" {
			name = value
		}
	}
	return []string{name, "-c", args[0]}, nil
}

// find looks up a command as a shell does. If that fails, the number is the exit code for
// it.
func find(name string) (string, int, error) {
	path, err := exec.LookPath(name)
	switch {
	case err == nil, errors.Is(err, exec.ErrDot):
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return "", NotFound, fmt.Errorf("cannot run %q: command not found: check its name and PATH", name)
	default:
		return "", NotExecutable, fmt.Errorf("cannot run %q: %w: check that it is an executable program", name, errors.Unwrap(err))
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", NotExecutable, fmt.Errorf("cannot run %q: %w", name, err)
	}
	return path, 0, nil
}
