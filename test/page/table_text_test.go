package page

import (
	"github.com/chromedp/chromedp/kb"
)

// faulty has a violation, an expectation that is not met, and a mistake is made in it.
const faulty = "title Not so\nalgorithm central\nprocesses 2\nat 1 P1 asks\nat 2 P2 asks\nexpect entries 2 1\n"

// brokenControls are those of a run that breaks.
func brokenControls() []control {
	violation := there(".event.current.violation")
	return []control{
		{name: "next violation", is: "button", called: "^next violation", want: violation, keys: []way{typed("v"), tabbed("button", "^next violation", kb.Enter)}},
		{name: "to where a property broke", is: ".properties button", called: "^go to (step|time)", want: violation},
		{name: "what is measured", is: ".measures .scroll", fresh: true, want: there(".measures .scroll") + ".scrollTop > 10",
			mouse: func(v *visit) { v.wheel(".measures .scroll", 0, 100) }, keys: []way{tabbed(".measures .scroll", "", down+down+down), tabbed(".measures .scroll", "", kb.PageDown)}},
		{name: "a notice is closed", is: ".notice button", from: kb.End + "v", want: not(there(".notice"))},
	}
}

// wideControls are those of tables that do not fit.
func wideControls() []control {
	high := there(".plot-size") + ".clientHeight"
	return []control{
		{name: "all lanes", is: ".predict", called: "^(un)?fold", fresh: true, want: high + " > 1000"},
		{name: "states to the right", is: ".states .scroll", fresh: true, want: there(".states .scroll") + ".scrollLeft > 30",
			mouse: func(v *visit) { v.wheel(".states .scroll", 200, 0) }, keys: []way{tabbed(".states .scroll", "", right+right+right)}},
		{name: "states below", is: ".states .scroll", fresh: true, want: there(".states .scroll") + ".scrollTop > 30",
			mouse: func(v *visit) { v.wheel(".states .scroll", 0, 200) }, keys: []way{tabbed(".states .scroll", "", down+down+down), tabbed(".states .scroll", "", kb.PageDown)}},
	}
}

// presentLine is the line of the text whose events are at the cursor.
func presentLine(words string) string { return shows(".editor-line.is-present", words) }

func editorControls() []control {
	typing := func(v *visit) { v.keys(kb.End); v.keys(" # soon") }
	line3 := and(inText("processes 2 # soon\n"), there(".editor-gutter button:enabled"))
	ctrl := kb.ModifierCtrl
	inLine := func(line int, then func(*visit)) way {
		return func(v *visit) {
			v.keys("l")
			v.until(`document.activeElement.matches("textarea")`)
			v.keys(kb.Home, ctrl)
			for range line - 1 {
				v.keys(down)
			}
			then(v)
		}
	}
	typed := func(v *visit) { inLine(3, typing)(v); v.until(inText("# soon")); v.keys(kb.Escape) }
	undone := func(v *visit) { typed(v); v.keys("u"); v.until(not(inText("# soon"))) }
	return []control{
		{name: "the text", is: "textarea", want: line3, mouse: func(v *visit) { v.caret(3); typing(v) },
			keys: []way{inLine(3, typing), func(v *visit) {
				v.tabTo("textarea", "")
				v.keys(kb.Home, ctrl)
				v.keys(down + down)
				typing(v)
			}}},
		{name: "the text is left", is: "textarea", from: "l", want: `!document.activeElement.matches("textarea")`,
			mouse: func(v *visit) { v.clickOn("h1", "") }, keys: []way{func(v *visit) { v.keys(kb.Escape) }}},
		{name: "to a line", is: ".editor-gutter button", want: presentLine("at 2 P2 asks"),
			mouse: clicks(".editor-gutter button:nth-child(6)"), keys: []way{inLine(6, func(v *visit) { v.keys(kb.Enter, ctrl) })}},
		{name: "undo", is: ".editor-buttons button", called: "^Undo", lead: typed, want: and(not(inText("# soon")), there(".editor-buttons button:nth-child(2):enabled")),
			keys: []way{
				func(v *visit) { v.keys("u") },
				func(v *visit) { v.keys("z", ctrl) },
				inLine(3, func(v *visit) { v.keys("z", ctrl) }),
				tabbed(".editor-buttons button", "^Undo", kb.Enter),
			}},
		{name: "redo", is: ".editor-buttons button", called: "^Redo", lead: undone, want: inText("# soon"),
			keys: []way{
				func(v *visit) { v.keys("r") },
				func(v *visit) { v.keys("y", ctrl) },
				func(v *visit) { v.keys("Z", ctrl, kb.ModifierShift) },
				inLine(1, func(v *visit) { v.keys("y", ctrl) }),
				tabbed(".editor-buttons button", "^Redo", kb.Enter),
			}},
		{name: "branch", is: ".editor-buttons button", called: "^Branch", fresh: true, want: and(`document.querySelectorAll(".branches [aria-pressed]").length == 2`, shows(".branches [aria-pressed=true]", "branch 1"))},
		{name: "another branch", is: ".branches button", called: "^(main|branch|counterexample)", fresh: true, want: and(shows(".branches [aria-pressed=true]", "main"), not(inText("# soon"))),
			mouse: func(v *visit) {
				v.clickOn(".editor-buttons button", "^Branch")
				typed(v)
				v.clickOn(".branches button", "^main")
			},
			keys: []way{func(v *visit) {
				tabbed(".editor-buttons button", "^Branch", kb.Enter)(v)
				typed(v)
				tabbed(".branches button", "^main", kb.Enter)(v)
			}}},
		{name: "a branch is closed", is: ".branches button", called: "^close (branch|counterexample)", fresh: true, want: not(there(".branches")),
			lead: func(v *visit) { v.clickOn(".editor-buttons button", "^Branch"); v.see(".branches") }},
		{name: "copy the command line", is: ".editor-buttons button", called: "^Copy CLI", from: "v", want: shows(".notice", "clipboard")},
		{name: "export, from the text", is: ".editor-buttons button", called: "^Export", want: there("dialog.panel-export")},
		{name: "what is to be copied by hand", is: ".finding input", want: `document.activeElement.matches(".finding input") && getSelection().toString().includes("stile-lab replay")`,
			lead: func(v *visit) {
				eval[bool](v.page, `navigator.clipboard.writeText = () => Promise.reject(new Error("no")), true`)
			},
			mouse: func(v *visit) { v.clickOn(".editor-buttons button", "^Copy CLI"); v.clickOn(".finding input", "") },
			keys: []way{func(v *visit) {
				tabbed(".editor-buttons button", "^Copy CLI", kb.Enter)(v)
				v.tabTo(".finding input", "")
			}}},
	}
}

// faultyControls lead to what is wrong in the text.
func faultyControls() []control {
	caret := func(line string) string {
		return `document.activeElement.matches("textarea") && document.activeElement.value.slice(0, document.activeElement.selectionStart).split("\n").length == ` + line
	}
	mistake := func(v *visit) {
		v.keys("l")
		v.keys(kb.Home, kb.ModifierCtrl)
		v.keys(down + "bogus ")
		v.see("#editor-fault button")
		v.keys(kb.Escape)
	}
	return []control{
		{name: "to what is not met", is: ".editor-unmet button", called: "^Line", want: caret("6")},
		{name: "to a mistake", is: "#editor-fault button", called: "^Line", lead: mistake, want: caret("2")},
	}
}
