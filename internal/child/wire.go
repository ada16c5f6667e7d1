//go:build linux || darwin

package child

import "time"

// An order is the first message of exec to its watchdog: what to run. Arguments and
// environment are bytes because they need not be UTF-8.
type order struct {
	Path       []byte
	Args       [][]byte
	Env        [][]byte
	Dir        []byte
	Grace      time.Duration
	Linger     bool
	Foreground bool // take the terminal
	Until      Moment
}

// A word is a later message of exec to its watchdog; one of these.
type word struct {
	Until  Moment `json:",omitempty"` // the lease is extended
	Signal int    `json:",omitempty"` // to be forwarded to the whole group
	Alone  bool   `json:",omitempty"` // only to the command
	End    bool   `json:",omitempty"` // the lock is lost
}

// News is a message of the watchdog to exec; one of these.
type news struct {
	Started int    `json:",omitempty"` // the command's process, and its group
	Failed  string `json:",omitempty"` // why it did not start
	Missing bool   `json:",omitempty"` // it did not start because a file is missing
	Stopped int    `json:",omitempty"` // the signal that stopped the command
	Exited  bool   `json:",omitempty"` // the command has exited, perhaps not everything it started
	Gone    bool   `json:",omitempty"` // everything has ended; the fields below describe the command
	Code    int    `json:",omitempty"`
	Signal  int    `json:",omitempty"`
	Lost    bool   `json:",omitempty"` // the watchdog or a lost lock ended it
}

func raw(list []string) [][]byte {
	out := make([][]byte, len(list))
	for i, s := range list {
		out[i] = []byte(s)
	}
	return out
}

func cooked(list [][]byte) []string {
	out := make([]string, len(list))
	for i, b := range list {
		out[i] = string(b)
	}
	return out
}
