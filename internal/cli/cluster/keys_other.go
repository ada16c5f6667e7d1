//go:build !linux && !darwin

package cluster

import "os"

// keys does nothing here: Enter is needed after a key.
func keys(*os.File) func() { return func() {} }

// isTerminal takes no file for a terminal: nothing is drawn over, nobody asked.
func isTerminal(*os.File) bool { return false }
