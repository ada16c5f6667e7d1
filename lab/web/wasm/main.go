//go:build js && wasm

// Command wasm is the lab without a server: a worker of the page calls it instead. It
// sets stileCall(name, body, emit, done), which calls emit with every line of the answer
// and then done, and calls stileReady when that is ready for use. See lab/web/src/worker.ts.
package main

import (
	"context"
	"syscall/js"

	"github.com/stile-lock/stile/lab/internal/calls"
	"github.com/stile-lock/stile/lab/web/internal/wire"
)

func main() {
	lab := &calls.Calls{}
	call := js.FuncOf(func(_ js.Value, args []js.Value) any {
		name, body, emit, done := args[0].String(), args[1].String(), args[2], args[3]
		go serve(lab, name, []byte(body), emit, done)
		return nil
	})
	js.Global().Set("stileCall", call)
	js.Global().Call("stileReady")
	select {}
}

// serve answers one call. A call that is no longer wanted ends with its worker, so its
// context is never done.
func serve(lab *calls.Calls, name string, body []byte, emit, done js.Value) {
	err := lab.Call(context.Background(), name, body, func(line []byte) error {
		emit.Invoke(string(line))
		return nil
	})
	if err != nil {
		emit.Invoke(string(wire.Error(err)))
	}
	done.Invoke()
}
