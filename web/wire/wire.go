// Package wire is what the server and the WebAssembly worker of the lab have in
// common: how they call, and how they answer when that fails. It is so small that
// it costs the worker nothing.
package wire

import (
	"context"
	"encoding/json"
)

// A Caller does the calls of the page. Every answer is one line of JSON, given to
// emit without its end of line; most calls have one, some stream many. Call ends
// soon after ctx is done, and when emit fails.
type Caller interface {
	Call(ctx context.Context, name string, body []byte, emit func(line []byte) error) error
}

// Error is the line that the page gets of a call that failed, in the form that
// faults of a scenario have too.
func Error(err error) []byte {
	type fault struct {
		Line int    `json:"line"`
		Col  int    `json:"col"`
		Text string `json:"text"`
	}
	line, _ := json.Marshal(map[string]fault{"error": {Text: err.Error()}})
	return line
}
