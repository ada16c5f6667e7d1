package child

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
)

// The variables that tell the command which lock it runs under. The fencing token grows
// with every grant of the lock: a resource that refuses a smaller one than it has seen is
// safe even where no process can be ended in time.
const (
	LockVariable  = "STILE_LOCK"
	TokenVariable = "STILE_TOKEN"
)

// Environ returns the environment with the lock's name and fencing token, which replace
// those of an outer lock.
func Environ(base []string, lock, token string) []string {
	env := make([]string, 0, len(base)+2)
	for _, v := range base {
		if !strings.HasPrefix(v, LockVariable+"=") && !strings.HasPrefix(v, TokenVariable+"=") {
			env = append(env, v)
		}
	}
	return append(env, LockVariable+"="+lock, TokenVariable+"="+token)
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
