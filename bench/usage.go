package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of CPU times in /proc, 1/100 s on every Linux of today.
const tick = 10 * time.Millisecond

// A stat is what /proc says of a process.
type stat struct {
	parent int
	cpu    time.Duration // including children that have ended
}

// stats returns what /proc says of all processes.
func stats() map[int]stat {
	all := map[int]stat{}
	dirs, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range dirs {
		b, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		pid, err := strconv.Atoi(strings.Split(path, "/")[2])
		if err != nil {
			continue
		}
		if s, ok := parseStat(b); ok {
			all[pid] = s
		}
	}
	return all
}

// parseStat parses a line of /proc/PID/stat. The name of the program may contain anything.
func parseStat(b []byte) (s stat, ok bool) {
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(fields) < 15 {
		return s, false
	}
	var ticks int64
	for _, f := range fields[11:15] { // utime, stime, cutime, cstime
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return s, false
		}
		ticks += n
	}
	parent, err := strconv.Atoi(fields[1])
	return stat{parent, time.Duration(ticks) * tick}, err == nil
}

// below returns these processes and all their descendants.
func below(all map[int]stat, roots ...int) []int {
	children := map[int][]int{}
	for pid, s := range all {
		children[s.parent] = append(children[s.parent], pid)
	}
	var tree []int
	for todo := roots; len(todo) > 0; {
		pid := todo[0]
		todo = todo[1:]
		tree = append(tree, pid)
		todo = append(todo, children[pid]...)
	}
	return tree
}

// spent returns the CPU time of processes and their descendants.
func spent(all map[int]stat, roots ...int) (sum time.Duration) {
	for _, pid := range below(all, roots...) {
		sum += all[pid].cpu
	}
	return sum
}

// A load sample says what the machine has done so far.
type sample struct {
	at   time.Time
	busy time.Duration // of all processes, and what other machines took
	all  map[int]stat
}

func measure() sample {
	b, _ := os.ReadFile("/proc/stat")
	return sample{time.Now(), parseBusy(b), stats()}
}

// parseBusy adds up the user, nice, system and steal times of all cores in /proc/stat.
// Interrupts are left out: they are of no process.
func parseBusy(b []byte) time.Duration {
	var user, nice, system, idle, wait, irq, soft, steal int64
	if _, err := fmt.Sscanf(string(b), "cpu %d %d %d %d %d %d %d %d", &user, &nice, &system, &idle, &wait, &irq, &soft, &steal); err != nil {
		return 0
	}
	return time.Duration(user+nice+system+steal) * tick
}

// background returns which percentage of the machine's cores processes of others have used
// since a sample.
func (s sample) background(now sample, cores int) float64 {
	self := os.Getpid()
	foreign := now.busy - s.busy - (spent(now.all, self) - spent(s.all, self))
	return max(0, 100*float64(foreign)/float64(now.at.Sub(s.at))/float64(cores))
}

// precise returns the CPU time of processes and their descendants to the nanosecond, from
// the times of their threads.
func precise(roots ...int) (sum time.Duration) {
	for _, pid := range below(stats(), roots...) {
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
		for _, path := range tasks {
			b, err := os.ReadFile(path)
			if err != nil {
				continue
			}
			if run, _, ok := strings.Cut(string(b), " "); ok {
				n, _ := strconv.ParseInt(run, 10, 64)
				sum += time.Duration(n)
			}
		}
	}
	return sum
}

// memory returns the memory of processes and their descendants in bytes: their share of
// pages that are of no file.
func memory(roots ...int) (sum int64) {
	for _, pid := range below(stats(), roots...) {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
		if err == nil {
			sum += parseMemory(b)
		}
	}
	return sum
}

func parseMemory(b []byte) (sum int64) {
	for line := range strings.Lines(string(b)) {
		name, value, _ := strings.Cut(line, ":")
		if name == "Pss_Anon" || name == "Pss_Shmem" {
			n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			sum += n << 10
		}
	}
	return sum
}
