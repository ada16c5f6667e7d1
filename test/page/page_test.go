package page

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stile-lock/stile/internal/lab/calls"
	"github.com/stile-lock/stile/lab/web"
)

// A bench is the real lab, started with a scenario.
type bench struct {
	calls calls.Calls
	start string
}

func (b *bench) Call(ctx context.Context, name string, body []byte, emit func([]byte) error) error {
	if name == "start" {
		line, err := json.Marshal(map[string]string{"text": b.start})
		if err != nil {
			return err
		}
		return emit(line)
	}
	return b.calls.Call(ctx, name, body, emit)
}

// example is the text of a scenario of the repository.
func example(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "scenarios", name+".stile"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// show opens the lab with a text, and waits until it is shown.
func show(t testing.TB, text string) *page {
	t.Helper()
	p := open(t, serve(t, labOf(t, &bench{start: text})))
	p.until(`document.querySelector("h1")?.innerText && document.querySelector(".count")?.innerText.match(/of [1-9]/)`)
	return p
}

// at waits for the cursor to be there.
func (p *page) at(cursor string) {
	p.t.Helper()
	p.until(`document.querySelector(".count").innerText == "` + cursor + `"`)
}

// A title is text, whatever it looks like.
func TestTitleIsText(t *testing.T) {
	t.Parallel()
	titleShown(t)
}

func titleShown(t testing.TB) {
	const title = `Two of <script>alert("them")</script> & <img src=x onerror=alert(1)>`
	p := show(t, "title "+title+"\nalgorithm central\nprocesses 2\nat 0 P1 asks\n")
	if got := p.text("h1"); got != title {
		t.Errorf("the title is %q, want %q", got, title)
	}
}

// What a test waits for may name what is not in the page yet: it is waited for, too. A name
// that nothing has is a mistake.
func TestNotThereYet(t *testing.T) {
	t.Parallel()
	p := show(t, example(t, "raymond-a"))
	eval[bool](p, `window.looks = 0, true`)
	p.until(`++looks < 3 ? document.querySelector("#none").innerText : looks == 3`)
	if got := eval[int](p, `looks`); got != 3 {
		t.Errorf("it looked %d times", got)
	}
	err := rehearse(t, web.Bundle, time.Hour, func(t testing.TB) {
		q := *p
		q.t = t
		q.until(`mistaken == 1`)
	})
	if err == nil || !strings.Contains(err.Error(), "mistaken") {
		t.Errorf("a mistake: %v", err)
	}
}

// What the page complains about is heard: an error, and what its policy forbids.
func TestComplaints(t *testing.T) {
	t.Parallel()
	p := show(t, example(t, "raymond-a"))
	eval[bool](p, `console.error("alas"), document.body.append(Object.assign(document.createElement("script"), {text: "document.title = 'evil'"})), true`)
	p.until(`document.title != "evil"`)
	said := strings.Join(p.complaints(), "\n")
	if !strings.Contains(said, "alas") || !strings.Contains(said, "Content Security Policy") {
		t.Errorf("heard only %q", said)
	}
}

// A server that goes away and comes back is found again, without a hand, and what
// was clicked meanwhile is done.
func TestServerGoesAway(t *testing.T) { serverGoesAway(t) }

func serverGoesAway(t testing.TB) {
	lab := &bench{start: example(t, "raymond-a")}
	first := httptest.NewServer(labOf(t, lab))
	defer first.Close()
	p := open(t, first.URL)
	p.at("0 of 39")
	first.CloseClientConnections()
	first.Close()
	p.key("t")
	p.see(".lost")
	l, err := net.Listen("tcp", strings.TrimPrefix(first.URL, "http://"))
	if err != nil {
		t.Skip("somebody else took the port meanwhile: ", err)
	}
	second := &http.Server{Handler: labOf(t, lab)}
	defer second.Close()
	go func() { _ = second.Serve(l) }()
	p.until(`!document.querySelector(".lost") && document.querySelector(".now-line").innerText == "now step 0"`)
	p.alone = true
}

// slow is a lab whose first answer comes late.
type slow struct {
	bench
	ready chan bool
}

func (s *slow) Call(ctx context.Context, name string, body []byte, emit func([]byte) error) error {
	if name == "start" {
		select {
		case <-s.ready:
		case <-ctx.Done():
		}
	}
	return s.bench.Call(ctx, name, body, emit)
}

// What is typed before the lab has said what it was started with stays.
func TestLateStart(t *testing.T) {
	t.Parallel()
	lateStart(t)
}

func lateStart(t testing.TB) {
	for _, c := range []struct {
		start string
		ran   bool // what was typed
	}{{"", false}, {"title The file\nalgorithm central\nprocesses 2\n", false}, {"title The file\nalgorithm central\nprocesses 2\n", true}} {
		start := c.start
		lab := &slow{bench: bench{start: start}, ready: make(chan bool)}
		p := open(t, serve(t, labOf(t, lab)))
		p.click("textarea")
		p.key("title Mine\ralgorithm central\rprocesses 3\rat 0 P1 asks")
		if c.ran {
			p.until(`document.title.startsWith("Mine")`)
		}
		close(lab.ready)
		p.until(`performance.getEntriesByType("resource").some((e) => e.name.endsWith("/api/start"))`)
		eval[bool](p, `(document.querySelector("textarea").setSelectionRange(1e6, 1e6), true)`)
		p.key("\rat 9 P2 asks")
		// The answer to this is later than the late one.
		p.until(`[...document.querySelectorAll(".event")].some((e) => e.textContent.includes("P2 asks")) || document.querySelector("dialog[open]") || !document.querySelector("textarea").value.startsWith("title Mine")`)
		got := eval[string](p, `document.querySelector("textarea").value`)
		if asks := eval[bool](p, `!!document.querySelector("dialog[open]")`); asks || !strings.HasPrefix(got, "title Mine") {
			t.Errorf("started with %q: the text is %q, and that a dialog is open is %t", start, got, asks)
		}
	}
}
