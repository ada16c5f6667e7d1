package page

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/stile-lock/stile/internal/lab/calls"
	"github.com/stile-lock/stile/lab/web"
)

// recordedRun is a scenario in 2,000 steps that begins in the middle, as the console of a node
// makes it: too long for an address.
func recordedRun() string {
	draw := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString("title Recorded\nalgorithm central\nprocesses 2\nschedule steps\nbegin P1 inside\n\nP1 leaves\n")
	for i := range 999 {
		fmt.Fprintf(&b, "say \"%d\"\n", draw.Uint64())
		fmt.Fprintf(&b, "P1 asks # %d.%06d ms\nP1 leaves # %d.%06d ms\n", i, draw.IntN(1e6), i, draw.IntN(1e6))
	}
	return b.String()
}

// The console of a node hands a text to the lab that is too long for an address. It stays
// when the page is loaded again.
func TestHandedText(t *testing.T) {
	t.Parallel()
	handler := web.Lab(&calls.Calls{Light: true})
	said := make(chan string, 1000)
	v := &visit{page: open(t, serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, web.LabAPI) {
			select {
			case said <- r.Header.Get("Authorization"):
			default:
			}
		}
		handler.ServeHTTP(w, r)
	}))+web.LabPath)}
	text := recordedRun()
	v.until(`document.querySelector("textarea")?.value`)
	eval[bool](v.page, `sessionStorage.setItem("stile-lab-text", `+quote(text)+`), sessionStorage.setItem("stile-console-token", "secret"), location.hash = "#handed", true`)
	v.holds(text)
	v.until(`document.querySelector("h1").innerText == "Recorded" && document.querySelector(".count").innerText.match(/of [1-9]/)`)
	v.until(`location.hash == "#handed"`)
	v.do(chromedp.Reload())
	v.holds(text)
	for last := ""; last != "Bearer secret"; {
		last = <-said
	}
}
