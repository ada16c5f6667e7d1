package page

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/stile-lock/stile/lab/web"
)

// byWorker is the page of the static build, with a worker that asks a lab.
func byWorker(t *testing.T, lab web.Caller, script string) *page {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("/", web.Handler(lab))
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) {
		page, err := web.Bundle.ReadFile("dist/index.html")
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(bytes.Replace(page, []byte(`content="server"`), []byte(`content="worker"`), 1))
	})
	mux.HandleFunc("/worker.js", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
		_, _ = w.Write([]byte(script))
	})
	return open(t, serve(t, mux))
}

const asking = `postMessage({ready: true});
onmessage = async ({data: {id, name, body}}) => {
	const answer = await fetch("/api/" + name, {method: "POST", headers: {"Content-Type": "application/json"}, body});
	for (const line of (await answer.text()).split("\n")) if (line) postMessage({id, line});
	postMessage({id, done: true});
};`

// What nobody waits for any more is not computed by the worker.
func TestStaleRuns(t *testing.T) {
	t.Parallel()
	g := newGate(draftText)
	p := byWorker(t, g, asking)
	p.until(`document.querySelector("h1")?.innerText == "Drafts"`)
	g.close("run")
	for _, title := range []string{"One", "Two", "Three", "Four"} {
		p.write(strings.Replace(draftText, "Drafts", title, 1))
		eval[bool](p, `document.querySelector("textarea").blur(), true`) // it runs at once
	}
	g.wait(t, "run")
	g.open("run")
	p.until(`document.querySelector("h1").innerText == "Four"`)
	if n := g.count("run"); n != 2 {
		t.Errorf("%d texts were run, want the first, which had begun, and the last", n)
	}
}

// A worker that cannot be had is not taken for a server that is not running.
func TestWorkerIsLost(t *testing.T) {
	t.Parallel()
	p := byWorker(t, &bench{}, `postMessage({failed: "stile.wasm.gz: 404"});`)
	p.see(".lost")
	if got := p.text(".lost"); !strings.Contains(got, "stile.wasm.gz: 404") || strings.Contains(got, "stile-lab") {
		t.Errorf("it says %q", got)
	}
}
