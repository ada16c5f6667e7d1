package trace_test

import (
	"testing"

	"github.com/stile-lock/stile/lab/trace"
)

func TestTale(t *testing.T) {
	golden(t, "ricart-agrawala-3.tale.txt", load(t, "ricart-agrawala-3").Tale(trace.TextOptions{}))
	golden(t, "trouble.tale.txt", trouble().Tale(trace.TextOptions{Width: 60}))
}
