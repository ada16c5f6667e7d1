//go:build js && wasm

// Command wasm is the lab without a server: a worker of the page calls it instead.
// It sets stileCall(name, body, emit, done), which calls emit with every line of the
// answer and then done, and calls stileReady when that can be used. See
// web/src/worker.ts.
package main

import (
	"context"
	"fmt"
	"syscall/js"

	"github.com/stile-lock/stile/web/wire"
)

func main() {
	call := js.FuncOf(func(_ js.Value, args []js.Value) any {
		name, body, emit, done := args[0].String(), args[1].String(), args[2], args[3]
		go serve(calls, name, []byte(body), emit, done)
		return nil
	})
	js.Global().Set("stileCall", call)
	js.Global().Call("stileReady")
	select {}
}

// serve does one call. A call that is no longer wanted ends with its worker, so its
// context is never done.
func serve(calls wire.Caller, name string, body []byte, emit, done js.Value) {
	err := calls.Call(context.Background(), name, body, func(line []byte) error {
		emit.Invoke(string(line))
		return nil
	})
	if err != nil {
		emit.Invoke(string(wire.Error(err)))
	}
	done.Invoke()
}

// calls is what is called.
var calls wire.Caller = nothing{}

// nothing stands in for the calls of the lab.
type nothing struct{}

func (nothing) Call(_ context.Context, name string, _ []byte, _ func([]byte) error) error {
	return fmt.Errorf("there is no call %q", name)
}
