package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stile-lock/stile/algorithm"
	"github.com/stile-lock/stile/algorithm/catalog"
	"github.com/stile-lock/stile/algorithm/deadlock"
	"github.com/stile-lock/stile/internal/spell"
)

// Spec makes an algorithm by its name. One that is the name of something else
// is refused with the command for that.
func Spec(name string, o algorithm.Options) (algorithm.Spec, error) {
	spec, err := catalog.Make(name, o)
	if other := Other(name); err != nil && other != "" && !isAlgorithm(name) {
		err = errors.New(other)
	}
	return spec, err
}

// Method finds a method against deadlock, likewise.
func Method(name string) (deadlock.Method, error) {
	m, err := deadlock.Find(name)
	if other := Other(name); err != nil && other != "" {
		err = errors.New(other)
	}
	return m, err
}

// Checked refuses what can be checked neither as an algorithm nor as a method,
// with the nearest of both.
func Checked(name string) error {
	if isAlgorithm(name) || isMethod(name) || strings.Contains(name, "+") {
		return nil
	}
	if other := Other(name); other != "" {
		return errors.New(other)
	}
	return fmt.Errorf("unknown algorithm or method %q: 'stile algorithms' and 'stile deadlock --help' list them%s",
		name, spell.DidYouMean(name, slices.Concat(algorithms(), Methods())...))
}

// Other says what a name is that a command has no use for, and which command
// has; "" if nothing is called so.
func Other(name string) string {
	switch spec, err := catalog.Make(name, algorithm.Options{}); {
	case isMethod(name):
		return fmt.Sprintf("%s is %s: 'stile deadlock %s' runs it", name, algorithm.Transactions.One(), name)
	case err == nil:
		return fmt.Sprintf("%s is %s: 'stile sim %s' runs it", name, spec.Family.One(), name)
	case filepath.Ext(name) == ".stile":
		return fmt.Sprintf("%q is a scenario file: 'stile replay' runs it", name)
	}
	return ""
}

func isMethod(name string) bool {
	_, err := deadlock.Find(name)
	return err == nil
}

func isAlgorithm(name string) bool {
	_, err := catalog.Make(name, algorithm.Options{})
	return err == nil
}

// Methods are the names of the methods against deadlock.
func Methods() []string {
	var names []string
	for _, m := range deadlock.Methods() {
		names = append(names, m.Name)
	}
	return names
}

// Modes are all the modes that methods have.
func Modes() []string {
	var all []string
	for _, m := range deadlock.Methods() {
		all = append(all, m.Modes...)
	}
	return all
}

// Locks are the names of the algorithms for one lock.
func Locks() []string { return askNamed(catalog.All()) }

func algorithms() []string { return askNamed(catalog.Every()) }

func askNamed(specs []algorithm.Spec) []string {
	var names []string
	for _, s := range specs {
		names = append(names, s.Name)
	}
	return names
}

// Held reports whether it makes a difference to an algorithm among n who has the
// lock at first, though nobody is inside: whether a process that has it goes
// another way when it starts and asks than one that has not.
func Held(spec algorithm.Spec, n int) (bool, error) {
	birth, err := spec.Birth(n)
	if err != nil || n < 2 {
		return true, err
	}
	const self = 1
	has, lacks := birth(self, algorithm.View{N: n, Holder: self}), birth(self, algorithm.View{N: n, Holder: 0})
	for _, kind := range []algorithm.InputKind{algorithm.Start, algorithm.Request} {
		var one, other algorithm.Output
		if err := errors.Join(has.Step(algorithm.Input{Kind: kind}, &one), lacks.Step(algorithm.Input{Kind: kind}, &other)); err != nil {
			return true, err
		}
		if one.Entered != other.Entered || !slices.Equal(one.Sends, other.Sends) {
			return true, nil
		}
	}
	return false, nil
}
