package storm

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/stile-lock/stile/internal/member"
	"github.com/stile-lock/stile/trace"
)

func TestDebug(t *testing.T) {
	seed, err := strconv.ParseUint(os.Getenv("SEED"), 10, 64)
	if err != nil {
		t.Skip()
	}
	span, _ := strconv.Atoi(os.Getenv("SPAN"))
	tr, r, err := Record(pick(seed), member.Span(span)*member.Millisecond, 100000)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(tr.Story(trace.TextOptions{}))
	fmt.Println(r.Violation)
}
