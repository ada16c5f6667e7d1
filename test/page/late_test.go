package page

import (
	"bytes"
	"context"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// tardy is a lab that answers one run only when it is told.
type tardy struct {
	bench
	asked, answer, over chan bool
}

func (l *tardy) Call(ctx context.Context, name string, body []byte, emit func([]byte) error) error {
	if name == "run" && bytes.Contains(body, []byte(`# late"`)) {
		close(l.asked)
		<-l.answer
		defer close(l.over)
	}
	return l.bench.Call(ctx, name, body, emit)
}

// The answer to an older text does not come in the way of that to a newer one.
func TestOlderAnswer(t *testing.T) {
	t.Parallel()
	olderAnswer(t)
}

func olderAnswer(t testing.TB) {
	lab := &tardy{bench{start: "title Late\nalgorithm central\nprocesses 2\nat 0 P1 asks\n"}, make(chan bool), make(chan bool), make(chan bool)}
	p := open(t, serve(t, labOf(t, lab)))
	p.until(`document.querySelector(".count")?.innerText.match(/of [1-9]/)`)
	few := eval[string](p, `document.querySelector(".count").innerText`)
	p.key("l")
	p.keys(kb.End, kb.ModifierCtrl)
	p.key("# late")
	<-lab.asked
	p.key("\rat 20 P2 asks")
	p.until(`document.querySelector("main[aria-busy=false]") && document.querySelectorAll(".editor-gutter button:enabled").length == 2`)
	many := eval[string](p, `document.querySelector(".count").innerText`)
	close(lab.answer)
	<-lab.over
	eval[string](p, `fetch("api/start", {method: "POST", headers: {"Content-Type": "application/json"}, body: "{}"}).then((a) => a.text())`) // what was sent before this has come
	eval[bool](p, `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`)
	if now := eval[string](p, `document.querySelector(".count").innerText`); now != many || many == few {
		t.Errorf("the answer of the older text is shown: %s, want %s", now, many)
	}
}

// Every change can be undone, one by one, and done again.
func TestUndoOfTwo(t *testing.T) {
	t.Parallel()
	undoOfTwo(t)
}

func undoOfTwo(t testing.TB) {
	p := show(t, byHand)
	texts := []string{byHand}
	for _, key := range []string{"2", "3", "4"} {
		p.key(right + key)
		p.see("[role=menu]")
		p.key("c")
		p.until(`document.querySelector("textarea").value != ` + quote(texts[len(texts)-1]) + ` && document.querySelector("main[aria-busy=false]")`)
		texts = append(texts, eval[string](p, `document.querySelector("textarea").value`))
	}
	for i := len(texts) - 2; i >= 0; i-- {
		p.key("u")
		p.until(`document.querySelector("textarea").value == ` + quote(texts[i]))
	}
	for _, text := range texts[1:] {
		p.key("r")
		p.until(`document.querySelector("textarea").value == ` + quote(text))
	}
}
