package page

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/stile-lock/stile/lab/web"
)

// fragmentOf is what an address has of a text.
func fragmentOf(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return "#s=" + base64.RawURLEncoding.EncodeToString(b.Bytes()) + "&c=0"
}

// Another address is gone to also while the first run has no answer yet.
func TestAddressBeforeFirstRun(t *testing.T) {
	t.Parallel()
	g := newGate(draftText)
	g.close("run")
	v := &visit{page: open(t, serve(t, web.Handler(g)))}
	g.wait(t, "run")
	other := "title Other\nalgorithm central\nprocesses 2\nat 1 P1 asks\n"
	eval[bool](v.page, `location.hash = `+quote(fragmentOf(t, other))+`, true`)
	v.holds(other)
	g.open("run")
	v.until(`document.querySelector("h1").innerText == "Other"`)
}

// A text that was emptied is not in the address any more.
func TestAddressOfNothing(t *testing.T) {
	t.Parallel()
	v := &visit{page: show(t, draftText)}
	v.until(`location.hash.startsWith("#s=")`)
	v.click("textarea")
	v.keys("a", kb.ModifierCtrl)
	v.keys(kb.Delete)
	v.until(`location.hash == ""`)
}
