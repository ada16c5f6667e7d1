package page

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
)

// A bug is a change of the sources that a check must find.
type bug struct {
	name           string
	file, old, new string
	check          func(testing.TB)
	says           string // in what the check finds
}

// A check that has never failed proves nothing: every kind of check of the page is
// seen to fail, each on a page with a bug that it is there for.
func TestPlantedBugs(t *testing.T) {
	t.Parallel()
	browser(t)
	b := newBundler(t)
	for i, bug := range bugs(t) {
		if !nightly() && i%8 > 0 {
			continue
		}
		t.Run(bug.name, func(t *testing.T) {
			t.Parallel()
			bundle, err := b.bundle(t, bug.file, bug.old, bug.new)
			if err != nil {
				t.Fatal(err)
			}
			// What never comes is not waited for as long as in a real test. Should that be
			// too short for what comes before it, there is more time.
			for patience := 3 * time.Second; ; patience *= 4 {
				err = rehearse(t, bundle, patience, bug.check)
				switch {
				case err == nil:
					t.Fatal("the check finds nothing")
				case strings.Contains(err.Error(), bug.says):
					return
				case patience > 30*time.Second:
					t.Fatalf("the check finds something else than %q: %v", bug.says, err)
				}
			}
		})
	}
}

// A page without bugs is one in which a rehearsal finds nothing, and a bug that cannot
// be planted is told.
func TestRehearsal(t *testing.T) {
	t.Parallel()
	browser(t)
	b := newBundler(t)
	same := "listen();"
	bundle, err := b.bundle(t, "main.tsx", same, same)
	if err != nil {
		t.Fatal(err)
	}
	if err := rehearse(t, bundle, *longest, titleShown); err != nil {
		t.Errorf("of a page as it is: %v", err)
	}
	if _, err := b.bundle(t, "main.tsx", "dance();", ""); err == nil || !strings.Contains(err.Error(), `has 0 times "dance();"`) {
		t.Errorf("a bug that cannot be planted: %v", err)
	}
}

// controlsOf is a check of some controls of a fixture.
func controlsOf(t testing.TB, name string, only ...string) func(testing.TB) {
	all := fixtures(t)
	for _, s := range all {
		if s.name == name {
			return func(t testing.TB) { s.try(t, newCensus(t, all), only...) }
		}
	}
	t.Fatalf("there is no fixture %s", name)
	return nil
}

// dialogsOf is a check of a dialog.
func dialogsOf(check func(*visit)) func(testing.TB) {
	return func(t testing.TB) { check(visiting(t, open(t, "about:blank"), newFakeLab(scenarioText))) }
}

func bugs(t testing.TB) []bug {
	return []bug{
		{"a key is ignored", "keys.ts", `keys: ["v"]`, `keys: ["V"]`, controlsOf(t, "broken", "next violation"), "next violation, by keyboard 1"},
		{"a step is two", "controls.tsx", `cursor.value + 1 : stepAfter(d, cursor.value)`, `cursor.value + 1 : stepAfter(d, stepAfter(d, cursor.value))`, controlsOf(t, "time", "step"), "step, by mouse"},
		{"an item of a menu cannot be clicked", "menu.tsx", `onClick={() => choose(item)}`, `onClick={() => close()}`, controlsOf(t, "processes", "asks"), "asks, by mouse"},
		{"a menu does another thing", "deeds.ts", `{ verb: "deliver", msg }`, `{ verb: "deliver", msg: msg + 1 }`, controlsOf(t, "messages", "arrives now"), "arrives now, by mouse"},
		{"a control that nobody knows", "app.tsx", `<Branches />`, `<Branches /><p onClick={() => {}}>Dance</p>`, controlsOf(t, "time", "first"), `"Dance" is not in the table of controls`},
		{"a control that Tab leaves out", "minimap.tsx", `tabIndex={0}`, `tabIndex={-1}`, controlsOf(t, "time", "the whole run"), "Tab never gets to .minimap"},
		{"a control that is covered", "diagram.css", `.now-line {`, `.veil { pointer-events: auto !important; position: fixed !important; inset: 0; z-index: 99; width: 100% !important; height: 100% !important; } .now, .now * { pointer-events: auto !important; } .now-line {`, controlsOf(t, "time", "step"), "is under"},
		{"what was past is future", "causality.ts", `PAST = 1, FUTURE = 2`, `PAST = 2, FUTURE = 1`, controlsOf(t, "time", "past and future of an event"), ".dot.future"},
		{"a dot is its last event", "causality.ts", `spread(doc.events, dot[0]!, codes);`, `spread(doc.events, last, codes);`, causalityOfDots, "all comes of what P1 did first"},
		{"a table is not scrolled by keys", "scroll.tsx", `sideways(e);`, ``, controlsOf(t, "wide", "states to the right"), "states to the right, by keyboard 1"},
		{"stopping starts anew", "compare.tsx", `<button key="stop" type="button" class="is-main" onClick={stop}>Stop</button> : <button key="start"`, `<button type="button" class="is-main" onClick={stop}>Stop</button> : <button`, controlsOf(t, "dialogs", "stop a comparison"), "stop a comparison, by mouse"},
		{"undo forgets one", "state.ts", `past: past.slice(0, -1)`, `past: past.slice(0, -2)`, undoOfTwo, "textarea"},
		{"redo forgets one", "state.ts", `future: future.slice(1)`, `future: future.slice(2)`, undoOfTwo, "textarea"},
		{"an error takes the picture away", "state.ts", `if (!refused(answer)) show(answer, at);`, `if (refused(answer)) doc.value = undefined; else show(answer, at);`, dialogsOf(errorAtLine), `document.title.includes("Two ask")`},
		{"the address forgets the cursor", "share.ts", `&c=${it.cursor}`, `&c=0`, dialogsOf(address), "location.href"},
		{"a title is a part of the page", "app.tsx", `<h1 title={d?.title}>{d?.title ?? ""}</h1>`, `<h1 dangerouslySetInnerHTML={{ __html: d?.title ?? "" }} />`, titleShown, "the title is"},
		{"a request goes elsewhere", "main.tsx", `listen();`, `listen(); void fetch("https://example.com/").catch(() => {});`, titleShown, "Content Security Policy"},
		{"an older answer is shown", "state.ts", `asked.abort();`, ``, olderAnswer, "the answer of the older text is shown"},
		{"what comes late replaces what was typed", "share.ts", "(\"start\", {});\n\tif (opened()) return;", "(\"start\", {});", lateStart, "the text is"},
		{"a server that is back is not found", "server.ts", `await pause(tries, signal);`, `await new Promise(() => {});`, serverGoesAway, ".lost"},
		{"changes are not marked", "states.tsx", `changed?.has(what) ? "changed" : ""`, `changed?.has(what) ? "" : ""`, statesAndWaits, "marked is"},
		{"things move that must not", "flights.tsx", `glides={!calm.value && moves`, `glides={moves`, reducedMotion, "things move"},
		{"words are too pale", "app.css", `--quiet: light-dark(#5b5d66, #a8adb8)`, `--quiet: light-dark(#9b9da6, #a8adb8)`, readableFirst, "light: "},
		{"words are too pale on a dark page", "app.css", `--quiet: light-dark(#5b5d66, #a8adb8)`, `--quiet: light-dark(#5b5d66, #585d68)`, readableFirst, "dark: "},
		{"the focus is not seen", "base.css", ":focus-visible {\n\toutline: 2px solid var(--accent-ink);", ":focus-visible {\n\toutline: none;", tabReachesAll, "does not show that it has the focus"},
		{"words lie on words", "beside.tsx", `translate(${at.x} ${at.y})`, `translate(100 ${at.high})`, crowdedOnce, "lies on"},
		{"messages cover names", "flights.tsx", `return room.place(places).at;`, `return places[0]!;`, crowdedOnce, "crosses"},
		{"something leaves the picture", "flights.tsx", `x: kept(x, stage.width), y: kept(y, stage.height), r`, `x: x - 200, y, r`, crowdedOnce, "leaves the picture"},
		{"words do not fit in", "beside.tsx", `small ? 4 : 12`, `-12`, crowdedOnce, "does not fit in"},
		{"dashes are left out", "arrows.tsx", `stroke-dasharray={k.dash}`, `stroke-dasharray={arrows.length < 600 ? k.dash : undefined}`, dashesAsInLegend, "in the legend"},
		{"a quiz shows the text", "editor.tsx", `it.from >= shown.cursor.value`, `it.from < shown.cursor.value`, quizHidesTheAnswer, "is the first"},
		{"the time covers a lane", "canvas.tsx", `const closest = 0.78;`, `const closest = 0.99;`, roomForSites, "detect-central-two-sites-demand"},
		{"the page is too wide", "panels.css", `.top h1 { flex-basis: 100%; order: 2; }`, `.top h1 { flex-basis: 100%; order: 2; min-width: 600px; }`, narrowPage, "scrollWidth <= 400"},
	}
}

// readableFirst is the contrast of the page as it is first seen.
func readableFirst(t testing.TB) {
	v := &visit{page: show(t, broken)}
	v.key(kb.ArrowRight)
	v.readable("at first")
}

// crowdedOnce looks at pictures that are full of words and messages.
func crowdedOnce(t testing.TB) {
	looked(t, 1280, "detect-distributed-two-sites", "ricart-agrawala-a", "bakery-order", "raymond-a")
}
