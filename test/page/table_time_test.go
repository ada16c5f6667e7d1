package page

import (
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// timeControls are those of time, of the diagram and of the list of events.
func timeControls() []control {
	toRules := func(v *visit) {
		v.clickOn(".measures .choice button", "^rules$")
		v.until(there(".rules li"))
	}
	shift := chromedp.ButtonModifiers(chromedp.ModifierShift)
	dot := func(v *visit, event string, with ...chromedp.MouseOption) {
		v.clickOn(".dot[data-event='"+event+"']", "", with...)
	}
	speed := list{is: ".speed select", called: "", values: []string{"0.25", "0.5", "1", "2", "4", "8", "16"}, usual: 2}
	return append([]control{
		{name: "first", is: "[aria-label=first]", from: kb.End, want: at("0 of 39"),
			keys: []way{typed(kb.Home), tabbed("[aria-label=first]", "", kb.Enter)}},
		{name: "step back", is: "[aria-label='step back']", from: right + right, want: at("1 of 39"),
			keys: []way{typed(left), tabbed("[aria-label='step back']", "", " ")}},
		{name: "step", is: "[aria-label=step]", from: right, want: at("3 of 39"),
			keys: []way{typed(right), tabbed("[aria-label=step]", "", kb.Enter)}},
		{name: "an event on", is: ".event", from: right, mouse: clicks("li[aria-posinset='2'] .event"), want: at("2 of 39"),
			keys: []way{typed(right, kb.ModifierShift)}},
		{name: "an event back", is: ".event", from: right + right, mouse: clicks("li[aria-posinset='2'] .event"), want: at("2 of 39"),
			keys: []way{typed(left, kb.ModifierShift)}},
		{name: "last", is: "[aria-label=last]", want: at("39 of 39"),
			keys: []way{typed(kb.End), tabbed("[aria-label=last]", "", kb.Enter)}},
		{name: "play", is: "[aria-label=play]", want: and(there("[aria-label=pause]"), not(at("0 of 39"))),
			keys: []way{typed(" "), tabbed("[aria-label=play]", "", kb.Enter), tabbed("[aria-label=play]", "", " ")}},
		{name: "pause", is: "[aria-label=pause]", from: " ", want: there("[aria-label=play]"),
			keys: []way{typed(" "), typed(kb.Escape), tabbed("[aria-label=pause]", "", kb.Enter)}},
		{name: "play to the end", is: "[aria-label=play]", after: "----", from: "++++", want: and(at("39 of 39"), there("[aria-label=play]")), keys: []way{typed(" ")}},
		{name: "faster", is: ".speed select", after: "-", want: there(".speed select") + ".value == '2'",
			mouse: func(v *visit) { v.clickOn(".speed select", ""); v.key(down + kb.Enter) },
			keys:  []way{typed("+"), typed("="), tabbed(".speed select", "", down)}},
		{name: "slower", is: ".speed select", after: "+", want: there(".speed select") + ".value == '0.5'",
			mouse: func(v *visit) { v.clickOn(".speed select", ""); v.key(up + kb.Enter) },
			keys:  []way{typed("-"), tabbed(".speed select", "", up)}},
		{name: "next entry", is: "button", called: "^next entry", from: "e", want: at("21 of 39"),
			keys: []way{typed("e"), tabbed("button", "^next entry", kb.Enter)}},
		{name: "by event", is: ".choice button", called: "^by event", after: "t", want: shows(".now-line", "now step 0"),
			keys: []way{typed("t"), tabbed(".choice button", "^by event", kb.Enter)}},
		{name: "by time", is: ".choice button", called: "^by time", from: "t", want: and(not(shows(".now-line", "now step 0")), there("[aria-pressed=true]")+".innerText == 'by time'"),
			keys: []way{typed("t"), tabbed(".choice button", "^by time", kb.Enter)}},
		{name: "the rules", is: ".measures .choice button", called: "^rules$", fresh: true, want: there(".rules li")},
		{name: "the measures again", is: ".measures .choice button", called: "^measures$", fresh: true, lead: toRules, want: there(".measures table")},
		{name: "where a rule is followed", is: ".rules button", fresh: true, lead: toRules, want: not(at("0 of 39")),
			mouse: func(v *visit) { v.clickOn(".rules button", "queues its own request") },
			keys:  []way{tabbed(".rules button", "queues its own request", kb.Enter)}},
		{name: "an event of the diagram", is: ".plot-things", mouse: func(v *visit) { dot(v, "2") }, want: at("3 of 39"), keys: []way{typed(right + right)}},
		{name: "a time of the diagram", is: ".plot", want: at("3 of 39"), keys: []way{tabbed(".plot", "", right+right)},
			mouse: func(v *visit) {
				x, y := v.where(".dot[data-event='2']", "")
				v.do(chromedp.MouseClickXY(x+14, y+18))
			}},
		{name: "past and future of an event", is: ".plot-things", want: and(there(".dot.focus"), shows(".card", "outlined, and concurrent events are faded. Messages so far: "), there(".dot.future")),
			mouse: func(v *visit) { v.pointAt(".dot[data-event='2']", "") }, keys: []way{typed(right + right + "i")}},
		{name: "what was pointed at is left", is: ".plot-things", from: right + right + "i", want: not(there(".dot.focus")),
			mouse: func(v *visit) {
				v.pointAt(".dot[data-event='2']", "")
				v.do(chromedp.MouseEvent(chromedp.MouseMoved, 5, 5))
			},
			keys: []way{typed("i"), typed(kb.Escape)}},
		{name: "how two events relate", is: ".plot-things", after: right + right + "c" + right + "c", want: shows(".relate", "“P5 sends REQUEST to P3” happened before “P3 sends REQUEST to P1”"),
			mouse: func(v *visit) { dot(v, "2", shift); dot(v, "4", shift) }, keys: []way{typed(right + right + "c" + right + "c")}},
		{name: "an event of the list", is: ".event", mouse: clicks("li[aria-posinset='4'] .event"), want: at("4 of 39"),
			keys: []way{tabbed(".events .scroll", "", down+down+down+down+down+up)}},
		{name: "past and future of an event of the list", is: ".event", want: there(".dot.focus"),
			mouse: func(v *visit) { v.pointAt("li[aria-posinset='3'] .event", "") }, keys: []way{tabbed(".events .scroll", "", down+down+down+"i")}},
		{name: "the list of events", is: ".events .scroll", want: there(".events .scroll") + ".scrollTop > 100",
			mouse: func(v *visit) { v.wheel(".events .scroll", 0, 200) }, keys: []way{tabbed(".events .scroll", "", kb.End)}},
		{name: "the whole run", is: ".minimap", want: there(".plot") + ".scrollLeft > 100",
			mouse: func(v *visit) {
				x, y := v.where(".minimap", "")
				v.do(chromedp.MouseClickXY(2*x-v.left(".minimap")-6, y))
			},
			keys: []way{tabbed(".minimap", "", kb.End), tabbed(".minimap", "", kb.End+left+kb.Home+kb.End+left)}},
		{name: "the plot", is: ".plot", want: there(".plot") + ".scrollLeft > 100",
			mouse: func(v *visit) { v.wheel(".plot", 300, 0) }, keys: []way{tabbed(".plot", "", kb.End)}},
	}, append(lectureControls(), speed.options()...)...)
}

// lectureControls are those of captions, presentations and the quiz, and of possible moves.
func lectureControls() []control {
	moves := clicks("[aria-label='what is listed'] button:last-child")
	mode := func(want string) string { return `document.documentElement.dataset.mode == ` + quote(want) }
	return []control{
		{name: "next caption", is: "[aria-label='next caption']", want: shows(".caption small", "2 of 8"),
			keys: []way{typed("s"), typed(kb.PageDown), tabbed("[aria-label='next caption']", "", kb.Enter)}},
		{name: "the caption before", is: "[aria-label='caption before']", from: "ss", want: shows(".caption small", "2 of 8"),
			keys: []way{typed("S"), typed(kb.PageUp), tabbed("[aria-label='caption before']", "", kb.Enter)}},
		{name: "present", is: "[aria-label=present]", after: kb.Escape, want: mode("present"),
			keys: []way{typed("p"), tabbed("[aria-label=present]", "", kb.Enter)}},
		{name: "speaker notes", is: "[aria-label='next caption']", from: "p", after: kb.Escape, want: there(".notes li"),
			mouse: func(v *visit) { v.key("w") }, keys: []way{typed("w")}},
		{name: "predict", is: ".predict", called: "^predict", after: "q", want: there(".quiz"),
			keys: []way{typed("q"), tabbed(".predict", "^predict", kb.Enter)}},
		{name: "an answer", is: ".quiz button", called: "^P", from: "q", after: "q", want: shows(".quiz", "of 1 right"),
			keys: []way{tabbed(".quiz button", "^P1", kb.Enter)}},
		{name: "the end of a quiz", is: ".quiz button", called: "^End", from: "q", want: not(there(".quiz")),
			keys: []way{typed("q"), tabbed(".quiz button", "^End", kb.Enter)}},
		{name: "next moves", is: ".choice button", called: "^next moves", fresh: true, want: there(".moves li")},
		{name: "this run", is: ".choice button", called: "^this run", fresh: true, lead: moves, want: there(".events .event")},
		{name: "a move", is: ".moves li button", fresh: true, from: right, lead: moves, want: there(".editor-line.is-newest")},
		{name: "back from a move", is: ".moves > button", fresh: true, from: right, want: and(there(".moves"), not(there(".editor-line.is-newest"))),
			lead: func(v *visit) {
				moves(v)
				v.clickOn(".moves li button", "")
				v.until(there(".editor-line.is-newest"))
			}},
	}
}
