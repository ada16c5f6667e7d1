package page

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/stile-lock/stile/lab/web"
)

// onTop says whether what a selector finds is what is seen there, and nothing above it.
func (p *page) onTop(selector string) bool {
	p.t.Helper()
	return eval[bool](p, `(e => { const b = e.getBoundingClientRect(); return e.contains(document.elementFromPoint(b.x + b.width / 2, b.y + b.height / 2)) })(document.querySelector(`+quote(selector)+`))`)
}

// What the page has to say is seen over a dialog too, is said to who cannot see it, and
// is no alarm only because it is old.
func TestNoticesOverDialogs(t *testing.T) {
	t.Parallel()
	p := show(t, example(t, "raymond-a"))
	p.key("v")
	p.see(".messages .notice")
	if !p.onTop(".messages .notice") {
		t.Error("a notice is hidden by the page")
	}
	for _, dialog := range []string{"g", "?", "k", "x"} {
		p.key(dialog)
		p.see("dialog[open]")
		p.until(`document.querySelector("dialog[open] .messages[role=status] .notice")?.innerText.includes("no violation")`)
		if !p.onTop(".messages .notice") {
			t.Errorf("%s: a notice is hidden by the dialog", dialog)
		}
		if n := eval[int](p, `document.querySelectorAll("dialog[open] [role=alert], .messages").length`); n != 1 {
			t.Errorf("%s: it is said %d times, or as an alarm", dialog, n)
		}
		p.key(kb.Escape)
		p.until(`!document.querySelector("dialog[open]")`)
	}
	p.key("g")
	p.click("dialog .messages button")
	p.until(`document.querySelector("dialog[open]") && !document.querySelector(".notice")`)
}

// That the lab went away is seen over a dialog.
func TestLostOverDialog(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(web.Handler(&bench{start: example(t, "raymond-a")}))
	defer s.Close()
	p := open(t, s.URL)
	p.at("0 of 39")
	s.CloseClientConnections()
	s.Close()
	p.key("n")
	p.see("dialog[open] .lost")
	if !p.onTop(".lost") {
		t.Error("that the lab is lost is hidden by the dialog")
	}
	if got := p.text(".lost"); !strings.Contains(got, "is 'stile-lab' running?") {
		t.Errorf("it says %q", got)
	}
	p.alone = true
}

// A run that ends long before its time is said to, until that is read.
func TestEndsEarly(t *testing.T) {
	t.Parallel()
	v := &visit{page: show(t, "title Ring\nalgorithm token-ring\nprocesses 50\nuntil 100000000\nat 0 P1 asks\n")}
	v.says(".notice", "The run ended at 1102, before 100000000")
	v.press("close")
	v.until(`!document.querySelector(".notice")`)
	v.key(kb.End) // the sign of what is still on its way is whole
	v.until(`((sign, box) => sign?.width > 4 && sign.right <= box.right + 0.1)(...[".arrow .end-open", ".plot-things"].map((s) => document.querySelector(s)?.getBoundingClientRect()))`)
}

// A text that has an error from the beginning has no picture, and the page says why; when
// it is right there is one. What is broken is said once, and "v" finds it, also if only the
// whole run tells it.
func TestBrokenIsSaid(t *testing.T) {
	t.Parallel()
	p := open(t, serve(t, labOf(t, &bench{start: "algorithm central\nprocesses 2\nat 0 P1 askss\n"})))
	p.until(`document.querySelector(".plot.empty")?.innerText.includes("has an error") && document.querySelector(".scene h2").innerText.trim().toLowerCase() == "the group"`)
	p.write(example(t, "none-ring"))
	p.until(`document.querySelector(".measures .broken")?.innerText.includes("P1, P2, P3 and P4 wait forever")`)
	p.key(kb.Escape + kb.Home + "v")
	p.at("26 of 27")
	p.write("algorithm ricart-agrawala\nprocesses 2\nat 0 crash P2\nat 1 P1 asks\n")
	p.until(`document.querySelector(".editor-unmet")?.innerText.startsWith("expected no violation, but lost-request: P1 asked")`)
	if n := eval[int](p, `document.querySelectorAll(".measures .broken").length`); n != 1 {
		t.Errorf("it is said %d times that P1 was never granted", n)
	}
	p.key(kb.Escape + kb.Home + kb.ArrowRight + kb.ArrowRight + "i") // the crash is concurrent, and is shown so
	p.until(`document.querySelector(".dot.focus") && document.querySelector(".mark.crash.concurrent")`)
}
