package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
)

// nth returns the address of a node of several in one process: the ports follow each
// other, so that they are the same the next time.
func nth(listen string, i int) (string, error) {
	host, port, err := net.SplitHostPort(listen)
	n, wrong := strconv.Atoi(port)
	switch {
	case err != nil || wrong != nil:
		return "", fmt.Errorf("--listen %q: want HOST:PORT", listen)
	case n == 0:
		return listen, nil
	case n+i > 65535:
		return "", fmt.Errorf("--listen %q: there are not enough ports above it: give a lower one", listen)
	}
	return net.JoinHostPort(host, strconv.Itoa(n+i)), nil
}

// folder returns where a node keeps what must outlive it, or nothing if that is
// memory. What is above it is made.
func (f *serveFlags) folder(name string) (string, error) {
	switch {
	case f.memory, f.nodes > 1 && f.data == "":
		return "", nil
	case f.nodes > 1:
		return filepath.Join(f.data, name), os.MkdirAll(f.data, 0o700)
	case f.data != "":
		return f.data, nil
	}
	state := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) { // as that standard wants it
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("there is no place for what must outlive the node, since there is no home folder: give --data, or --memory")
		}
		state = filepath.Join(home, ".local", "state")
	}
	dir := filepath.Join(state, "stile")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("cannot make %s for what must outlive the node: %w: give --data, or --memory", dir, err)
	}
	return filepath.Join(dir, name), nil
}
