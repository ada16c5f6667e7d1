package child

import "syscall"

// The exit codes of 'stile exec'. Every other code is the command's own.
const (
	// Conflict is the code if the lock cannot be acquired within a timeout or without
	// waiting, as with flock; as there, a flag sets another.
	Conflict = 1
	// Failed is the code if the lock was lost, or if stile itself failed: the command's own
	// code would not tell whether it ran exclusively.
	Failed = 125
	// NotExecutable is the code if the command exists but cannot be run.
	NotExecutable = 126
	// NotFound is the code if there is no such command.
	NotFound = 127
	// Signalled plus n is the code if signal n ended the command.
	Signalled = 128
)

// Code returns the exit code for a command that ended with this code, or by this
// signal if it is not zero.
func Code(exit int, by syscall.Signal) int {
	if by != 0 {
		return Signalled + int(by)
	}
	return exit
}
