package page

import (
	"context"
	"flag"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// A page is a window of a real browser.
type page struct {
	t     testing.TB
	ctx   context.Context
	heard chan chromedp.ConsoleMessage
	asked int // how often complaints were asked for

	alone   bool // its server was taken away: that it cannot be reached is no complaint
	refused bool // its server refuses what it may not have, which is no complaint either
}

// unused are features of the browser that load pages of their own into every window.
const unused = "Translate,WebUIOmniboxPopup,WebUIOmniboxAimPopup,WebUIOmniboxFullPopup"

// chromium starts the browser that all journeys share.
var chromium = sync.OnceValues(func() (context.Context, error) {
	dir, err := os.MkdirTemp("", "stile-chromium")
	if err != nil {
		return nil, err
	}
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(chromiumPath()), chromedp.UserDataDir(dir), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-features", unused),
		chromedp.WindowSize(1280, 800))...)
	ctx, stop := chromedp.NewContext(ctx)
	ends = append(ends, func() { _ = os.RemoveAll(dir) }, cancel, stop)
	return ctx, chromedp.Do(ctx, chromedp.Navigate("about:blank"))
})

// chromiumPath returns the path of Chromium, or nothing. The headless shell comes first because
// it needs much less processor time.
func chromiumPath() string {
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// needsBrowser skips a test that cannot run, and lets it run beside one other.
func needsBrowser(t *testing.T) {
	t.Helper()
	switch {
	case testing.Short():
		t.Skip("it needs a browser")
	case chromiumPath() == "":
		t.Skip("there is no Chromium: 'make tools' installs it where it can")
	}
	t.Parallel()
}

// window opens an empty window that shares nothing with others.
func window(t testing.TB) *page {
	t.Helper()
	browser, err := chromium()
	if err != nil {
		t.Fatalf("cannot start the browser: %v", err)
	}
	ctx, stop := chromedp.NewContext(browser, chromedp.WithNewBrowserContext(), chromedp.WithNewWindow(true))
	t.Cleanup(stop)
	p := &page{t: t, ctx: ctx, heard: make(chan chromedp.ConsoleMessage, 1000)}
	// The window ends with the context that first ran something, so that has no limit.
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		t.Fatalf("cannot open a window: %v", err)
	}
	// Several are open at once, and each has the focus.
	if _, err := chromedp.Call(ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}); err != nil {
		t.Fatalf("cannot give a window the focus: %v", err)
	}
	go p.listen(chromedp.Console(ctx))
	t.Cleanup(func() {
		for _, what := range p.complaints() {
			t.Errorf("the page complains: %s", what)
		}
	})
	p.size(1280, 800)
	return p
}

// open shows an address in a window of its own.
func open(t testing.TB, url string) *page {
	t.Helper()
	p := window(t)
	p.goes(url)
	return p
}

// goes shows another address, and waits until the page is alive: what is painted before its
// script is there does nothing.
func (p *page) goes(url string) {
	p.t.Helper()
	p.do(chromedp.Navigate("about:blank"), chromedp.Navigate(url)) // also where only the fragment differs
	p.until(`!document.querySelector("#app[inert]")`)
}

// size changes the size of the window.
func (p *page) size(width, height int64) {
	p.t.Helper()
	p.do(chromedp.EmulateViewport(width, height))
}

// media has the page believe something of the screen and its user.
func (p *page) media(name, value string) {
	p.t.Helper()
	_, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: name, Value: value}}})
	if err != nil {
		p.t.Fatal(err)
	}
}

// listen passes on what the console shows, until the window is gone.
func (p *page) listen(messages iter.Seq2[chromedp.ConsoleMessage, error]) {
	defer close(p.heard)
	for m, err := range messages {
		if err != nil {
			return
		}
		p.heard <- m
	}
}

// complaints returns what the page complained about since the last time.
func (p *page) complaints() []string {
	p.t.Helper()
	p.asked++
	mark := fmt.Sprintf("complaints %d?", p.asked)
	if _, err := chromedp.Run(p.ctx, chromedp.Evaluate[chromedp.Void](fmt.Sprintf("console.log(%q)", mark))); err != nil {
		return []string{err.Error()}
	}
	var all []string
	for m := range p.heard {
		switch m.Type {
		case chromedp.ConsoleError, chromedp.ConsoleWarning, chromedp.ConsoleException:
			refusal := strings.Contains(m.Text, "the server responded with a status of")
			if (!p.alone || !strings.Contains(m.Text, "net::ERR_") && !refusal) && (!p.refused || !refusal) {
				all = append(all, fmt.Sprintf("%s: %s (%s)", m.Type, m.Text, m.URL))
			}
		}
		if m.Text == mark {
			break
		}
	}
	return all
}

var longest = flag.Duration("patience", 3*time.Minute, "how long to wait for what a page does not show")

// patience limits how long a journey waits. It only ends what would never come: nothing depends
// on how fast a machine is.
func patience(t testing.TB) time.Duration {
	if _, ok := t.(*rehearsal); ok {
		return 4 * time.Second
	}
	return *longest
}

func (p *page) do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience(p.t))
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		p.t.Fatal(err)
	}
}

// eval returns the value of a JavaScript expression, or what it promises.
func eval[T any](p *page, expression string) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience(p.t))
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// until waits for a JavaScript expression to be true. It is evaluated with every picture that is
// painted, and again if the window has gone to another page.
func (p *page) until(expression string) {
	p.t.Helper()
	for {
		_, err := chromedp.Run(p.ctx, chromedp.PollFunction[chromedp.Void](
			// What is not there yet has no properties.
			`() => { try { return Boolean(`+expression+`) } catch (e) { if (!(e instanceof TypeError)) throw e } }`, chromedp.WithPollingTimeout(patience(p.t))))
		if err == nil {
			return
		}
		if text := err.Error(); strings.Contains(text, "Cannot find context") || strings.Contains(text, "navigated") {
			continue
		}
		p.t.Fatalf("%s: %v; the page is\n%s", expression, err, eval[string](p, `document.body.innerText.replaceAll(/\n+/g, " | ").slice(0, 3000)`))
	}
}

// frame waits until the page was painted.
func (p *page) frame() {
	p.t.Helper()
	eval[bool](p, `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`)
}

// quote writes a text as JavaScript does.
func quote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(text) + `"`
}

// says waits until what a selector finds first contains some words.
func (p *page) says(selector string, words ...string) {
	p.t.Helper()
	for _, w := range words {
		p.until(`document.querySelector(` + quote(selector) + `).innerText.includes(` + quote(w) + `)`)
	}
}

// sees waits until something that a selector finds is visible.
func (p *page) sees(selector string) {
	p.t.Helper()
	p.until(`[...document.querySelectorAll(` + quote(selector) + `)].some((e) => e.checkVisibility())`)
}

// gone waits until a selector finds nothing.
func (p *page) gone(selector string) {
	p.t.Helper()
	p.until(`!document.querySelector(` + quote(selector) + `)`)
}

// text returns the text that the first match of a selector shows.
func (p *page) text(selector string) string {
	p.t.Helper()
	return eval[string](p, `document.querySelector(`+quote(selector)+`)?.innerText ?? ""`)
}

// finding is the first element that a selector finds, that has a name beginning with some words,
// and that can be used.
func finding(selector, words string) string {
	return `[...document.querySelectorAll(` + quote(selector) + `)].find((e) => e.checkVisibility() && !e.disabled && (!document.querySelector("dialog[open]") || e.closest("dialog[open]")) && ` +
		`(e.getAttribute("aria-label") ?? (e.labels?.[0] ?? e).innerText?.trim() ?? "").startsWith(` + quote(words) + `))`
}

// where waits for something that does not move, and returns the middle of it, which nothing
// must cover.
func (p *page) where(selector, words string) (x, y float64) {
	p.t.Helper()
	p.until(finding(selector, words))
	at := eval[struct {
		X, Y  float64
		Under string
	}](p, `(async () => {
		const find = () => `+finding(selector, words)+`;
		const middle = (e) => { const b = (e.querySelector(":scope > .body, :scope > circle, :scope > text") ?? e).getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; };
		find()?.scrollIntoView({block: "nearest", inline: "nearest"});
		for (let last = ""; ; await new Promise(requestAnimationFrame)) {
			const e = find();
			if (!e || String(middle(e)) != last) { last = e ? String(middle(e)) : ""; continue; } // it comes, or moves
			const [X, Y] = middle(e), hit = document.elementFromPoint(X, Y);
			// The diagram finds by their places what is too thin to be hit.
			const its = e.contains(hit) || (getComputedStyle(e).pointerEvents == "none" && hit?.closest(".plot") && hit.closest(".plot") == e.closest(".plot"));
			return {X, Y, Under: its ? "" : hit?.outerHTML.slice(0, 100) ?? "nothing: it is out of sight"};
		}
	})()`)
	if at.Under != "" {
		p.t.Fatalf("%s %q is under %s", selector, words, at.Under)
	}
	return at.X, at.Y
}

// click clicks the first match of a selector.
func (p *page) click(selector string, with ...chromedp.MouseOption) {
	p.t.Helper()
	p.clickOn(selector, "", with...)
}

// press clicks the button that begins with some words.
func (p *page) press(words string) {
	p.t.Helper()
	p.clickOn("button, [role=menuitem]", words)
}

func (p *page) clickOn(selector, words string, with ...chromedp.MouseOption) {
	p.t.Helper()
	x, y := p.where(selector, words)
	p.do(chromedp.MouseEvent(chromedp.MouseMoved, x, y), chromedp.MouseClickXY(x, y, with...))
}

// pointAt brings the mouse to something.
func (p *page) pointAt(selector string) {
	p.t.Helper()
	x, y := p.where(selector, "")
	p.do(chromedp.MouseEvent(chromedp.MouseMoved, x, y))
}

// tabTo goes to something with Tab alone.
func (p *page) tabTo(selector, words string) {
	p.t.Helper()
	p.until(finding(selector, words))
	for range 200 {
		if eval[bool](p, `document.activeElement === `+finding(selector, words)) {
			return
		}
		p.key(kb.Tab)
	}
	p.t.Fatalf("Tab never gets to %s %q", selector, words)
}

// key presses keys, one after the other: letters, or those of package kb.
func (p *page) key(keys string, with ...kb.Modifier) {
	p.t.Helper()
	p.do(func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		for _, r := range keys {
			for _, k := range strokes(r, with) {
				if _, err := cdp.Call(ctx, t, input.DispatchKeyEvent, *k); err != nil {
					return chromedp.Void{}, err
				}
			}
		}
		return chromedp.Void{}, nil
	})
}

// strokes are what a keyboard does for a key. A character comes with its key going down, as in a
// browser that has a head: a page that prevents what the key does prevents the character.
func strokes(key rune, with []kb.Modifier) []*input.DispatchKeyEventParams {
	var all []*input.DispatchKeyEventParams
	plain := true
	for _, k := range kb.Encode(key) {
		for _, m := range with {
			k.Modifiers |= int64(m)
			plain = plain && m == kb.ModifierShift
		}
		switch {
		case k.Type != kb.KeyChar:
			all = append(all, k)
		case plain:
			down := all[len(all)-1]
			down.Type, down.Text, down.UnmodifiedText = input.DispatchKeyEventTypeKeyDown, k.Text, k.UnmodifiedText
		}
	}
	return all
}

// blur takes the focus from what has it.
func (p *page) blur() {
	p.t.Helper()
	eval[bool](p, `document.activeElement.blur(), true`)
}

// fill types a text into the focused field in place of what is there.
func (p *page) fill(text string) {
	p.t.Helper()
	p.key("a", kb.ModifierCtrl)
	p.do(func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, t, input.InsertText, input.InsertTextParams{Text: text})
		return chromedp.Void{}, err
	})
}
