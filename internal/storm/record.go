package storm

import (
	"github.com/stile-lock/stile/trace"
)

func (w *world) describe(e *trace.Event, b []byte) { e.Name = msgNames[b[0]] }
