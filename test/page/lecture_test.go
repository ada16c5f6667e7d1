package page

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// The stamp that decides is in the diagram and beside its process. The page needs no
// scrollbar. In the middle of a step no sentence contradicts the picture.
func TestStampsAndRoom(t *testing.T) {
	t.Parallel()
	v := &visit{page: show(t, example(t, "ricart-agrawala-a"))}
	for _, size := range [][2]int64{{1440, 900}, {1280, 800}} {
		v.do(chromedp.EmulateViewport(size[0], size[1]))
		v.until(`document.documentElement.scrollHeight <= innerHeight && document.documentElement.scrollWidth <= innerWidth`)
		v.until(`[...document.querySelectorAll(".plot-words text")].some((e) => e.textContent.includes("(34,P2)"))`)
	}
	v.key(kb.ArrowRight + kb.ArrowRight)
	v.until(`["(41,P1)", "(34,P2)"].every((stamp) => [...document.querySelectorAll(".pill text")].some((e) => e.textContent == stamp))`)
	v.until(`document.querySelectorAll(".answers .needs").length == 4 && document.querySelector(".legend .needs")`)
	v.key(kb.Home)
	v.do(chromedp.KeyEvent(kb.ArrowRight, chromedp.KeyModifiers(chromedp.ModifierShift)))
	v.until(`document.querySelector(".process.is-waiting") && document.querySelector(".why").innerText.includes("middle of a step")`)
	v.key(kb.ArrowRight)
	v.until(`document.querySelector(".why").innerText.startsWith("P1 waits for OK")`)
}

// Captions come with the run. A presentation shows them and little else, goes on by one key,
// and hides the future in a quiz.
func TestPresentation(t *testing.T) {
	t.Parallel()
	v := &visit{page: show(t, example(t, "ricart-agrawala-a"))}
	shown := func(css string) string { return `document.querySelector("` + css + `")?.checkVisibility()` }
	v.until(`document.querySelector(".caption p").innerText.startsWith("P1 and P2 want")`)
	v.key("s")
	v.until(`document.querySelector(".caption p").innerText.includes("(34,P2)")`)
	v.key("p")
	v.until(`document.documentElement.dataset.mode == "present" && !` + shown("textarea") + ` && !` + shown(".top nav") + ` && ` + shown(".plot"))
	v.key(kb.PageDown + kb.PageDown)
	v.until(`document.querySelector(".caption small").innerText == "4 of 6" && document.querySelector(".process.is-inside[data-proc='1']")`)
	v.key("w")
	v.until(`document.querySelectorAll(".notes li").length == 2`)
	v.key(kb.PageUp + kb.Escape)
	v.until(`document.documentElement.dataset.mode == "" && document.querySelector(".caption small").innerText == "3 of 6" && ` + shown("textarea"))
	v.key(kb.Home + "q")
	v.until(`document.querySelector(".veil.opaque")`)
	v.press("P1")
	v.until(`document.querySelector(".notice").innerText.startsWith("No: P2 enters") && document.querySelector(".quiz").innerText.includes("0 of 1")`)
	v.press("P1")
	v.until(`document.querySelector(".notice").innerText.startsWith("Right: P1 enters") && document.querySelector(".quiz").innerText.includes("No process enters after this")`)
	v.press("End the quiz")
	v.until(`!document.querySelector(".quiz")`)
}

// In a quiz nothing on the page gives the answer away: not the text, nor the list of events,
// nor what is shown of an event that is pointed at.
func TestQuizHidesTheAnswer(t *testing.T) {
	t.Parallel()
	quizHidesTheAnswer(t)
}

func quizHidesTheAnswer(t testing.TB) {
	const text = "title P2 is the first\nalgorithm central\nprocesses 3\nhold 9\n\n# P2 enters first\nsay \"Two ask.\"\nat 1 P2 asks\nwhen P2 enters say \"P2 is inside.\"\nat 4 P3 asks\nexpect entries 2 3\n"
	v := &visit{page: show(t, text)}
	v.until(`document.querySelectorAll(".event .what").length > 4 && document.title.startsWith("P2")`)
	// What can be read of the page: not what is hidden, and not what the veil covers.
	const read = `[...document.querySelectorAll("h1, .editor-painted, .editor-findings, .events ol, .why, .caption, .measures, .card, .plot-words text, textarea")].filter((e) => e.checkVisibility({ visibilityProperty: true, opacityProperty: true })).map((e) => e.value ?? e.innerText ?? e.textContent).join(" | ")`
	const answers = `/is the first|enters first|is inside|P2 asks|P2 enters|P3|entries 2/`
	if got := eval[string](v.page, read); !eval[bool](v.page, answers+".test("+quote(got)+")") {
		t.Fatalf("without a quiz the page does not say what comes: %s", got)
	}
	v.key(kb.Home + "q")
	v.until(`document.querySelector(".veil.opaque")`)
	v.until("!" + answers + ".test(" + read + ")")
	v.until(`document.querySelector(".editor").innerText.includes("hold 9") && !document.querySelector("textarea").checkVisibility()`)
	v.pointAt(".event.later", "")
	v.until("!" + answers + ".test(" + read + ")")
	v.key(kb.ArrowRight)
	v.until(`/P2 asks/.test(` + read + `) && !/is the first|P3|entries 2|is inside/.test(` + read + `)`)
	v.press("End the quiz")
	v.until(`/expect entries 2 3/.test(document.querySelector(".editor-painted").innerText) && document.querySelector("textarea").checkVisibility()`)
}

// The ring of flags says by which rule a process waits, and what the sign of a privilege means.
func TestRingOfFlags(t *testing.T) {
	t.Parallel()
	v := &visit{page: show(t, "algorithm dijkstra\nprocesses 4\nuntil 9\nat 0 P3 asks\nat 0.2 P1 asks\n")}
	v.until(`document.querySelector(".picture .token text")?.textContent == "P"`)
	v.key(kb.ArrowRight + kb.ArrowRight)
	v.until(`document.querySelector(".why").innerText.includes("P3 is not privileged: its flag 0 equals that of P2")`)
	v.until(`[...document.querySelectorAll(".legend li")].some((e) => e.innerText.includes("a privilege: it may move, or enter") && e.querySelector(".token text").textContent == "P")`)
}

// Back returns to the example before, and a reload keeps the branches.
func TestHistory(t *testing.T) {
	t.Parallel()
	v := &visit{page: open(t, serve(t, labOf(t, &bench{})))}
	v.press("Central: P1 is in")
	v.until(`document.title.startsWith("Central") && location.hash.startsWith("#s=")`)
	v.key(kb.End)
	v.until(`location.hash.match(/&c=[1-9]\d*$/)`)
	v.key("g")
	v.press("Token ring: the token never rests")
	v.until(`document.title.startsWith("Token ring") && history.state?.branches[0].text.includes("token-ring")`)
	v.press("Branch")
	v.press("Branch")
	v.press("main")
	v.until(`document.querySelector(".branches [aria-pressed=true]").innerText == "main" && history.state?.branches.length == 3 && history.state.at == 0`)
	v.do(chromedp.Reload())
	v.until(alive)
	v.until(`document.querySelector(".branches")?.innerText.replaceAll("\n", " ").startsWith("main └ branch 1 × ─└ branch 2")`)
	eval[bool](v.page, `history.back(), true`)
	v.until(`document.title.startsWith("Central") && document.querySelector(".count").innerText.match(/^(\d+) of \1$/)`)
	eval[bool](v.page, `history.forward(), true`)
	v.until(`document.title.startsWith("Token ring") && document.querySelectorAll(".branches [aria-pressed]").length == 3`)
}

// What can happen next is listed: choosing a move goes to its successor, and Back returns.
func TestMoves(t *testing.T) {
	t.Parallel()
	text := "algorithm ricart-agrawala\nprocesses 2\nschedule steps\n\nP1 asks\n"
	v := &visit{page: show(t, text)}
	v.key(kb.End)
	v.press("next moves")
	moves := func(want string) {
		t.Helper()
		v.until(`[...document.querySelectorAll(".moves li")].map((e) => e.innerText).join("; ") == ` + quote(want))
	}
	moves("P2 asks; REQUEST (time 1) from P1 arrives at P2")
	v.press("REQUEST (time 1) from P1 arrives at P2")
	moves("P2 asks; OK (time 2) from P2 arrives at P1")
	v.press("OK (time 2) from P2 arrives at P1")
	moves("P1 leaves; P2 asks")
	v.press("Back")
	moves("P2 asks; OK (time 2) from P2 arrives at P1")
}

// A changed example differs from the prepared run, which is no error.
func TestQuietDifference(t *testing.T) {
	t.Parallel()
	v := &visit{page: show(t, example(t, "ricart-agrawala-a"))}
	v.key(kb.End + "3a")
	v.until(`document.querySelector(".finding.differs") && !document.querySelector(".finding.is-unmet") && !document.querySelector(".properties .broken")`)
}

// A frame shows the run without the editor, and so does one file without a server.
func TestEmbedded(t *testing.T) {
	t.Parallel()
	text := example(t, "ricart-agrawala-a")
	url := serve(t, labOf(t, &bench{}))
	v := &visit{page: open(t, url+"/?embed"+fragmentOf(t, text))}
	bare := `document.title.startsWith("Ricart") && !document.querySelector("textarea").checkVisibility() && !document.querySelector("dialog[open]") && document.querySelectorAll(".process").length == 3`
	v.until(bare)
	v.do(chromedp.Navigate("about:blank"), chromedp.Navigate(url+"/"+fragmentOf(t, text)))
	v.until(`document.title.startsWith("Ricart")`)
	eval[bool](v.page, `window.saved = {}, URL.createObjectURL = (blob) => (window.blob = blob, "blob:x"), HTMLAnchorElement.prototype.click = function () { saved[this.download.replace(/.*\./, "")] = blob }, true`)
	v.key("x")
	v.press("Save Page")
	v.until(`saved.html`)
	file := filepath.Join(t.TempDir(), "run.html")
	if err := os.WriteFile(file, []byte(eval[string](v.page, `saved.html.text()`)), 0o644); err != nil {
		t.Fatal(err)
	}
	v.press("Save animated Group")
	v.until(`saved.svg`)
	if n := eval[int](v.page, `saved.svg.text().then((s) => s.split("<animate ").length - 1)`); n < 10 {
		t.Errorf("the animation has %d frames", n)
	}
	v.do(chromedp.Navigate("about:blank"), chromedp.Navigate("file://"+file))
	v.until(bare)
	v.key("ss")
	v.until(`document.querySelector(".caption small").innerText == "3 of 6"`)
}
