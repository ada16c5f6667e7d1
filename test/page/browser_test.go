package page

import (
	"context"
	"flag"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// A page is a tab of a real browser.
type page struct {
	t     testing.TB
	ctx   context.Context
	heard chan chromedp.ConsoleMessage
	asked int  // how often complaints were asked for
	alone bool // its server was taken away: that it cannot be reached is no complaint

	refused bool // its server refuses what it may not have, which is no complaint either

	trying string // what is being tried, for who reads what went wrong
}

// open shows an address in a window of its own, with nothing kept from others, and
// fails the test at its end if the page had anything to complain about.
func open(t testing.TB, url string) *page {
	t.Helper()
	ctx, stop := chromedp.NewContext(chromium(t), chromedp.WithNewBrowserContext(), chromedp.WithNewWindow(true))
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
	p.do(chromedp.EmulateViewport(1280, 800), chromedp.Navigate(url))
	p.until(alive)
	return p
}

// alive is a page whose script is there: what is shown before that does nothing yet.
const alive = `!document.querySelector("#app[inert]")`

// unused is what the browser would do besides. For the list below its bar of addresses
// it loads two pages of its own in every window, which take longer than ours.
const unused = "Translate,WebUIOmniboxPopup,WebUIOmniboxAimPopup,WebUIOmniboxFullPopup"

// shared is the one browser of all tests: to start one takes longer than most of them.
var shared struct {
	once sync.Once
	ctx  context.Context
	err  error
	ends []func()
}

// chromium starts the browser, once.
func chromium(t testing.TB) context.Context {
	t.Helper()
	path := browser(t)
	shared.once.Do(func() {
		var dir string
		if dir, shared.err = os.MkdirTemp("", "stile-chromium"); shared.err != nil {
			return
		}
		ctx, cancel := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:],
			chromedp.ExecPath(path), chromedp.UserDataDir(dir), chromedp.NoSandbox, chromedp.DisableGPU,
			chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-features", unused),
			chromedp.WindowSize(1280, 800))...)
		ctx, stop := chromedp.NewContext(ctx)
		shared.ctx, shared.ends = ctx, []func(){stop, cancel, func() { _ = os.RemoveAll(dir) }}
		shared.err = chromedp.Do(ctx, chromedp.Navigate("about:blank"))
	})
	if shared.err != nil {
		t.Fatalf("cannot start the browser: %v", shared.err)
	}
	return shared.ctx
}

// TestMain lets more tests run at once than there are processors, if nobody has said how
// many: mostly they wait for the next picture.
func TestMain(m *testing.M) {
	flag.Parse()
	said := false
	flag.Visit(func(f *flag.Flag) { said = said || f.Name == "test.parallel" })
	if !said {
		if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
			panic(err)
		}
	}
	// The sources and the bundle of the page are in the other module.
	if err := os.Chdir("../../lab/web"); err != nil {
		panic(err)
	}
	code := m.Run()
	for _, end := range shared.ends {
		end()
	}
	os.Exit(code)
}

// browser returns the path of Chromium, and skips the test if there is none. The headless
// shell comes first because it needs much less processor time.
func browser(t testing.TB) string {
	t.Helper()
	if testing.Short() {
		t.Skip("it needs a browser for minutes")
	}
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("there is no Chromium here: 'make tools' installs it where it can")
	return ""
}

// listen passes on what the console shows, until the browser is gone.
func (p *page) listen(messages iter.Seq2[chromedp.ConsoleMessage, error]) {
	defer close(p.heard)
	for m, err := range messages {
		if err != nil {
			return
		}
		p.heard <- m
	}
}

// complaints returns what the page complained about since the last time: errors and
// warnings on its console, of its policy, and exceptions that nobody caught.
// Whatever came before it is asked is heard.
func (p *page) complaints() []string {
	p.t.Helper()
	p.asked++
	mark := fmt.Sprintf("complaints %d?", p.asked)
	if _, err := chromedp.Run(p.ctx, chromedp.Evaluate[chromedp.Void](fmt.Sprintf("console.log(%q)", mark))); err != nil {
		return []string{err.Error()}
	}
	var said []string
	for m := range p.heard {
		switch m.Type {
		case chromedp.ConsoleError, chromedp.ConsoleWarning, chromedp.ConsoleException:
			refusal := strings.Contains(m.Text, "status of 401") || strings.Contains(m.Text, "status of 403")
			if (!p.alone || !strings.Contains(m.Text, "net::ERR_")) && (!p.refused || !refusal) {
				said = append(said, fmt.Sprintf("%s: %s (%s)", m.Type, m.Text, m.URL))
			}
		}
		if m.Text == mark {
			break
		}
	}
	return said
}

func (p *page) do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience(p.t))
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		p.t.Fatal(err)
	}
}

// see waits until something that the CSS selector finds is visible.
func (p *page) see(selector string) {
	p.t.Helper()
	p.do(chromedp.WaitVisible(chromedp.CSS(selector)))
}

// click waits for something and clicks in the middle of it.
func (p *page) click(selector string) {
	p.t.Helper()
	p.do(chromedp.Click(chromedp.CSS(selector), chromedp.NodeVisible))
}

// key presses keys, one after the other: letters, or those of package kb.
func (p *page) key(keys string) {
	p.t.Helper()
	p.keys(keys)
}

// keys presses keys while others are held.
func (p *page) keys(keys string, with ...kb.Modifier) {
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

// strokes are what a keyboard does for a key. A character comes with its key going
// down, as it does in a browser that has a head: a page that prevents what the key does
// prevents the character.
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

// until waits for a JavaScript expression to be true. It is evaluated anew with
// every picture that is painted.
func (p *page) until(expression string) {
	p.t.Helper()
	_, err := chromedp.Run(p.ctx, p.poll(expression))
	if err != nil && strings.Contains(err.Error(), "Cannot find context") { // another page was just loaded
		_, err = chromedp.Run(p.ctx, p.poll(expression))
	}
	if err != nil {
		p.t.Fatalf("%s: %s: %v: it is %s; the page is\n%s", p.trying, expression, err, p.now(expression), p.state())
	}
}

// poll waits for an expression to be true. One about something that is not in the page yet, so
// that it has no properties, is not true yet.
func (p *page) poll(expression string) chromedp.Action[chromedp.Void] {
	return chromedp.PollFunction[chromedp.Void](`() => { try { return (`+expression+`) } catch (e) { if (!(e instanceof TypeError)) throw e } }`, chromedp.WithPollingTimeout(patience(p.t)))
}

// now is the value of an expression that did not come true, or why it has none.
func (p *page) now(expression string) string {
	p.t.Helper()
	return eval[string](p, `(() => { try { return String(`+expression+`) } catch (e) { return String(e) } })()`)
}

// state is what is to be known of a page that did not come to what it should.
func (p *page) state() string {
	p.t.Helper()
	return eval[string](p, `JSON.stringify({focus: document.activeElement?.outerHTML.slice(0, 120), text: document.querySelector("textarea")?.value}, null, " ") + "\n" + document.body.innerText.replaceAll(/\n+/g, " | ").slice(0, 3000)`)
}

// eval returns what a JavaScript expression is, or what it promises.
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

// text returns the text that the first match of the CSS selector shows.
func (p *page) text(selector string) string {
	p.t.Helper()
	return eval[string](p, fmt.Sprintf("document.querySelector(%q)?.innerText ?? ''", selector))
}

// shoot writes a picture of what can be seen into a PNG file.
func (p *page) shoot(path string) {
	p.t.Helper()
	png, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, png, 0o644); err != nil {
		p.t.Fatal(err)
	}
}
