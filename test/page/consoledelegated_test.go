package page

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stile-lock/stile"
)

// visits has a client acquire a lock and release it at once, every second, until the context
// ends.
func visits(ctx context.Context, c *stile.Client, name string) {
	for ctx.Err() == nil {
		k, err := c.Lock(ctx, name)
		if err != nil {
			return
		}
		_ = k.Unlock()
		select {
		case <-ctx.Done():
		case <-time.After(time.Second): // meanwhile it may be delegated again
		}
	}
}

// A lock that is delegated to its client is shown as such, in lists and on its own page. What
// others do to it is recorded, and replays to the same end, although the client's entries send
// no messages.
func TestLiveDelegated(t *testing.T) {
	t.Parallel()
	l := newLive(t, "naimi-trehel")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go contend(ctx, l.dial(1), "job")
	p := open(t, l.console(0, "#locks"))
	p.see(".list td[data-of=holder] > .delegated")
	eval[bool](p, `document.querySelector(".list tbody tr [data-row]").click(), true`)
	p.until(`document.querySelector(".holder")?.innerText.includes("or a later one") && document.querySelector(".holder .delegated") !== null`)
	p.has("by itself, without a message, until it is wanted elsewhere")

	visitor := l.dial(2)
	p.presses(".recorder", "Record 10 s and open in the lab")
	p.see(".recorder progress")
	go visits(ctx, visitor, "job")
	p.moves(`location.pathname == "/lab/"`)
	stop()
	p.until(`document.querySelector("textarea")?.value.includes("expect entries")`)
	p.has("as expected")
	if text := eval[string](p, `document.querySelector("textarea").value`); !strings.Contains(text, "\ndeliver ") {
		t.Errorf("no message was recorded:\n%s", text)
	}
	if bad := eval[[]string](p, `[...document.querySelectorAll(".is-unmet")].map((e) => e.innerText)`); len(bad) > 0 {
		t.Errorf("the replay ends otherwise: %q", bad)
	}
}

// The page says that the token of a delegated lock may be a later one, also before the lock is
// taken away.
func TestConsoleDelegated(t *testing.T) {
	t.Parallel()
	f := newFakeNode(t)
	f.full()
	v := consoleAt(t, f, "#lock/"+url.PathEscape(lockName), ".holder")
	v.until(`!document.querySelector(".delegated")`)
	f.change("lock "+lockName, object{"holders": object{"14.941": object{"delegated": true}}})
	v.says(".holder .delegated", "delegated")
	v.says(".holder .token-of", "14.941 or a later one")
	v.tap(".lock-head .breaks")
	v.says("dialog", "(fencing token 14.941 or a later one)")
}
