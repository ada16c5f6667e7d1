// Package wire is what the server and the WebAssembly worker of the lab have in common:
// how they call, and how they answer when a call fails. It is so small that it costs the
// worker nothing.
package wire

import (
	"context"
	"encoding/json"
)

// A Caller answers the calls of the page. Every answer is one line of JSON, passed to
// emit without its newline; most calls have one, some stream many. Call ends soon after
// ctx is done, and when emit fails.
type Caller interface {
	Call(ctx context.Context, name string, body []byte, emit func(line []byte) error) error
}

// Error returns the line that the page receives if a call fails, in the same form as an
// error in a scenario.
func Error(err error) []byte {
	type fault struct {
		Line int    `json:"line"`
		Col  int    `json:"col"`
		Text string `json:"text"`
	}
	line, _ := json.Marshal(map[string]fault{"error": {Text: err.Error()}})
	return line
}
