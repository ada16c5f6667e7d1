//go:build race

package web

// raced says that the race detector watches.
const raced = true
