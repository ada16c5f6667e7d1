// Package nightly separates long tests from those that every change must pass: 'make nightly'
// runs all tests with the environment variable STILE_NIGHTLY=1.
package nightly

import (
	"os"
	"testing"
)

// On reports whether long tests run too.
func On() bool { return os.Getenv("STILE_NIGHTLY") != "" }

// Only skips a test that takes too long for every change.
func Only(t testing.TB) {
	t.Helper()
	if !On() {
		t.Skip("it takes long: set STILE_NIGHTLY=1")
	}
}

// Pick returns how much a test does for every change, or if On, how much it does at night.
func Pick[T any](everyday, night T) T {
	if On() {
		return night
	}
	return everyday
}
