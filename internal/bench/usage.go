package bench

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"
)

// usage returns what this process has used so far. Unknown values are 0.
func usage() answer {
	a := answer{CPU: spent()}
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	a.Heap = int64(m.HeapAlloc)
	var total, resident int64
	if b, err := os.ReadFile("/proc/self/statm"); err == nil {
		if _, err := fmt.Sscan(string(b), &total, &resident); err == nil {
			a.Resident = resident * int64(os.Getpagesize())
		}
	}
	a.Written = written()
	a.CPUThen = spent()
	return a
}

// spent returns the CPU time.
func spent() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// written returns how many bytes the process has caused to be written to disks.
func written() (n int64) {
	b, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(b) {
		if _, err := fmt.Sscanf(string(line), "write_bytes: %d", &n); err == nil {
			return n
		}
	}
	return 0
}
