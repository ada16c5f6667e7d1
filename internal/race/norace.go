//go:build !race

// Package race says whether the race detector watches, under which everything is slow:
// tests that have nothing for it to find do less then.
package race

// Enabled says that the race detector watches.
const Enabled = false
