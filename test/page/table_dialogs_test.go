package page

import (
	"fmt"
	"strings"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// dialogControls are those that open dialogs, and those of checks and comparisons.
func dialogControls() []control {
	open := func(name, button, key string) control {
		return control{name: name, is: "nav button", called: "^" + button, want: there("dialog.panel-" + name),
			keys: []way{typed(key), tabbed("nav button", "^"+button, kb.Enter)}}
	}
	closing := func(name, key string) control {
		return control{name: "close " + name, is: ".panel-close", from: key, want: not(there("dialog[open]")),
			keys: []way{typed(kb.Escape), tabbed(".panel-close", "", kb.Enter)}}
	}
	all := []control{
		open("gallery", "Gallery", "g"), open("fresh", "New", "n"), open("compare", "Compare", "o"),
		open("check", "Check every", "k"), open("export", "Share", "x"), open("help", "keys", "?"),
		closing("gallery", "g"), closing("fresh", "n"), closing("compare", "o"), closing("check", "k"), closing("export", "x"), closing("help", "?"),
		{name: "beside a dialog", is: "dialog", from: "x", want: not(there("dialog[open]")), keys: []way{typed(kb.Escape)},
			mouse: func(v *visit) { v.see("dialog[open]"); v.do(chromedp.MouseClickXY(4, 400)) }},
	}
	return append(append(all, checkControls()...), compareControls()...)
}

func checkControls() []control {
	running := there(".check-standing progress")
	begin := func(v *visit) {
		v.see("dialog.panel-check")
		v.key(kb.Enter)
		v.until(running)
	}
	stopped := func(v *visit) { // before which another check begins
		begin(v)
		v.key(kb.Enter)
		v.until(not(running))
	}
	willSay := func(verdict string) func(*visit) {
		return func(v *visit) {
			stopped(v)
			v.lab.willEnd(verdict)
		}
	}
	is := ".check-setting button"
	often := list{is: ".check-setting select", called: "^Each process asks", from: "k", lead: func(v *visit) { v.see("dialog.panel-check") }, values: []string{"1", "2", "-1"}, usual: 1}
	return append([]control{
		{name: "how often each asks", is: ".check-setting select", from: "k", want: there(".check-setting select") + ".value == '-1'", after: "k" + kb.Tab + kb.Tab + "twice" + kb.Escape,
			mouse: func(v *visit) { v.clickOn(".check-setting select", ""); v.key(down + kb.Enter) },
			keys:  []way{tabbed(".check-setting select", "", down), tabbed(".check-setting select", "", "without")}},
		{name: "check", is: is, called: "^Check", from: "k", want: running, after: "k" + kb.Enter, keys: []way{typed(kb.Enter), tabbed(is, "^Check", kb.Enter)}},
		{name: "stop a check", is: is, called: "^Stop", from: "k", lead: begin, want: and(not(running), shows(".check-standing", "Nothing is proved"))},
		{name: "check again", is: is, called: "^Check again", from: "k", lead: willSay(provedJSON), want: and(shows(".check-verdict.is-proved", "Proved."), shows(".check-properties", "up to 2 requests"))},
		{name: "open a counterexample", is: ".check-standing button", called: "^Open the shortest", from: "k", lead: willSay(brokenJSON), want: and(inText("algorithm bakery-naive"), shows(".branches [aria-pressed=true]", "counterexample")),
			mouse: func(v *visit) {
				v.clickOn(is, "^Check again")
				v.clickOn(".check-standing button", "^Open")
			},
			keys: []way{func(v *visit) { v.key(kb.Enter); tabbed(".check-standing button", "^Open", kb.Enter)(v) }}},
	}, often.options()...)
}

// fill writes into a field, in place of what is there.
func fill(v *visit, words string) {
	v.keys("a", kb.ModifierCtrl)
	v.keys(words)
}

func compareControls() []control {
	const form = ".compare-form input"
	head := ".compare-map thead"
	// plain compares what all rows begin with.
	plain := func(v *visit) {
		v.see(".compare-form")
		for _, f := range [][2]string{{"^Processes", "3"}, {"^Rest", "0"}, {"^Time", "1"}} {
			v.tabTo(form, f[0])
			fill(v, f[1])
		}
		v.key(kb.Enter)
		v.until(and(shows(head, "N = 3"), shows(head, "rest 0, hold 1"), shows(".panel .said", "marked")))
	}
	field := func(name, called, words, want string) control {
		return control{name: name, is: form, called: "^" + called, from: "o", lead: plain, want: shows(head, want),
			mouse: func(v *visit) {
				v.clickOn(form, "^"+called)
				fill(v, words)
				v.clickOn(".compare-form button", "^Compare")
			},
			keys: []way{func(v *visit) {
				v.tabTo(form, "^"+called)
				fill(v, words)
				v.key(kb.Enter)
			}}}
	}
	held := func(v *visit) { plain(v); v.lab.holdBack("compare"); v.key(kb.Enter) }
	shown := list{is: ".compare-measure select", called: "", from: "o", lead: plain, values: []string{"messages_per_entry", "sync_delay", "throughput"}}
	return append([]control{
		field("sizes", "Processes", "2", "N = 2"),
		field("rests", "Rest between", "7", "rest 7"),
		field("holds", "Time inside", "2", "hold 2"),
		{name: "compare again", is: ".compare-form button", called: "^Compare", from: "o", lead: func(v *visit) { plain(v); fill(v, "4") }, want: shows(head, "hold 4")},
		{name: "stop a comparison", is: ".compare-form button", called: "^Stop", from: "o", lead: held, want: shows(".panel .said", "Stopped after")},
		{name: "what is shown", is: ".compare-measure select", from: "o", lead: plain, want: there(".compare-measure select") + ".value == 'sync_delay'", after: "o" + strings.Repeat(kb.Tab, 4) + "messages" + kb.Escape,
			mouse: func(v *visit) { v.clickOn(".compare-measure select", ""); v.key(down + kb.Enter) },
			keys:  []way{tabbed(".compare-measure select", "", "synch")}},
		{name: "a cell", is: ".compare-cell", from: "o", lead: plain, want: and(not(there("dialog[open]")), inText("algorithm raymond\nprocesses 3")),
			mouse: func(v *visit) { v.clickOn(".compare-cell", "^raymond, 3") }, keys: []way{tabbed(".compare-cell", "^raymond, 3", kb.Enter)}},
		{name: "the map", is: ".compare-map", from: "o", lead: plain, want: `document.activeElement.matches(".compare-map")`,
			mouse: clicks(".compare-map th"), keys: []way{func(v *visit) { v.tabTo(".compare-map", "") }}},
	}, shown.options()...)
}

// freshControls are the fields of a new scenario.
func freshControls() []control {
	// field is one to write into: what comes of it is in the text that is written.
	field := func(called, algorithm, words, want string) control {
		choose := func(v *visit) {
			v.until(`document.activeElement.matches(".fresh select")`)
			v.pick(algorithm)
			v.until("Boolean(" + finding(".fresh input", "^"+called) + ")")
		}
		return control{name: called, is: ".fresh input", called: "^" + called, from: "n", want: and(not(there("dialog[open]")), inText(want)),
			mouse: func(v *visit) {
				choose(v)
				v.clickOn(".fresh input", "^"+called)
				fill(v, words)
				v.clickOn(".fresh button", "^Write it")
			},
			keys: []way{func(v *visit) {
				choose(v)
				v.tabTo(".fresh input", "^"+called)
				fill(v, words)
				v.key(kb.Enter)
			}}}
	}
	sanders := func(v *visit) {
		v.until(`document.activeElement.matches(".fresh select")`)
		v.pick("ricart") // whose options forget those of another
		v.pick("sanders")
		v.until("Boolean(" + finding(".fresh input", "^Inform") + ")")
	}
	// inform is beside the sets, without which there are no inform sets.
	inform := field("Inform", "", "", "inform 1:1;2:1,2;3:1,3")
	inform.mouse = func(v *visit) {
		sanders(v)
		v.clickOn(".fresh input", "^Sets")
		fill(v, "1:1,2;2:1,2;3:1-3")
		v.clickOn(".fresh input", "^Inform")
		fill(v, "1:1;2:1,2;3:1,3")
		v.clickOn(".fresh button", "^Write it")
	}
	inform.keys = []way{func(v *visit) {
		sanders(v)
		v.tabTo(".fresh input", "^Sets")
		fill(v, "1:1,2;2:1,2;3:1-3")
		v.tabTo(".fresh input", "^Inform")
		fill(v, "1:1;2:1,2;3:1,3")
		v.key(kb.Enter)
	}}
	// experiment is there or not.
	experiment := field("Experiment", "", "", "\nexperiment\n")
	experiment.mouse = func(v *visit) {
		sanders(v)
		v.clickOn(".fresh input", "^Experiment")
		v.clickOn(".fresh button", "^Write it")
	}
	experiment.keys = []way{func(v *visit) {
		sanders(v)
		v.tabTo(".fresh input", "^Experiment")
		v.key(" " + kb.Enter)
	}}
	// patience is what a lock has that survives deaths.
	survives := func(v *visit) {
		v.until(`document.activeElement.matches(".fresh select")`)
		v.pick("ricart")
		v.tabTo(".fresh select", "^After")
		v.pick("bully")
		v.until("Boolean(" + finding(".fresh input", "^Patience") + ")")
	}
	patience := field("Patience", "", "", "algorithm ricart-agrawala+bully\npatience 50")
	patience.mouse = func(v *visit) {
		survives(v)
		v.clickOn(".fresh input", "^Patience")
		fill(v, "50")
		v.clickOn(".fresh button", "^Write it")
	}
	patience.keys = []way{func(v *visit) {
		survives(v)
		v.tabTo(".fresh input", "^Patience")
		fill(v, "50")
		v.key(kb.Enter)
	}}
	choice := func(called, letters string, downs int, want string) control {
		is, open := ".fresh select", func(v *visit) { v.until(`document.activeElement.matches(".fresh select")`); v.pick("ricart") }
		return control{name: called, is: is, called: "^" + called, from: "n", want: and(not(there("dialog[open]")), want),
			mouse: func(v *visit) {
				open(v)
				v.clickOn(is, "^"+called)
				v.key(strings.Repeat(down, downs) + kb.Enter)
				v.clickOn(".fresh button", "^Write it")
			},
			keys: []way{func(v *visit) {
				open(v)
				v.tabTo(is, "^"+called)
				v.pick(letters)
				tabbed(".fresh button", "^Write it", kb.Enter)(v)
			}}}
	}
	return []control{
		field("Time inside", "ricart", "7", "hold 7"),
		field("Seed", "ricart", "77", "seed 77"),
		field("Topology", "raymond's tree (", "line", "topology line"),
		field("Sets", "maekawa (", "1:1,2;2:1,2,3;3:1,3", "sets 1:1,2;2:1,2,3;3:1,3"),
		inform, experiment,
		field("Coordinator", "central coordinator (", "2", "coordinator 2"),
		field("K", "dijkstra", "9", "k 9"),
		patience,
		field("Processes", "ricart", "5", "processes 5"),
		field("Latency", "ricart", "exp:1", "latency exp:1"),
		field("Mode", "detection by a", "batch", "mode batch"),
		choice("Requests", "only", 1, and(inText("P1 asks"), not(inText("P2 asks")))),
		choice("Algorithm", "raymond", 1, not(inText("algorithm central\n"))),
		choice("After a crash", "chang", 3, inText("algorithm ricart-agrawala+chang-roberts")),
		choice("Network", "lossy", 3, inText("network lossy")),
		choice("Schedule", "by hand", 1, inText("schedule steps")),
		{name: "write it", is: ".fresh button", called: "^Write it", from: "n", want: and(not(there("dialog[open]")), not(inText("algorithm central\n"))),
			keys: []way{tabbed(".fresh button", "^Write it", kb.Enter), func(v *visit) { v.tabTo(".fresh input", "^Processes"); v.key(kb.Enter) }}},
		{name: "the algorithms, once more", is: ".panel-fresh button", called: "^Try again", fresh: true, want: there(".fresh select"),
			lead: func(v *visit) {
				v.lab.refuse("algorithms")
				v.key("n")
				v.until(shows(".panel-fresh .trouble", "on fire"))
			}},
	}
}

// exportControls save and copy.
func exportControls() []control {
	row := func(label, want string) control {
		// Something else is said first.
		other := map[bool]string{true: "^Save JSON", false: "^Copy Scenario"}[strings.HasPrefix(label, "Copy")]
		return control{name: label, is: ".exports button", called: "^" + label, from: "x", want: want, lead: func(v *visit) {
			v.clickOn(".exports button", other)
			v.until(not(want))
		}}
	}
	saved := func(file string) string { return shows(".panel .messages", file+" is saved") }
	return []control{
		row("Copy Address", shows(".panel .messages", "The address of what you see is on the clipboard")),
		row("Save SVG", saved("two-ask.svg")),
		row("Save PNG", saved("two-ask.png")),
		row("Save JSON", saved("two-ask.json")),
		row("Save ShiViz", saved("two-ask.shiviz")),
		row("Save Group", saved("two-ask-group.svg")),
		row("Save animated Group", saved("two-ask-animated.svg")),
		row("Save Page", saved("two-ask.html")),
		row("Copy Frame", shows(".panel .messages", "The frame is on the clipboard")),
		row("Copy Scenario", shows(".panel .messages", "The scenario is on the clipboard")),
		row("Save Scenario", saved("two-ask.stile")),
		row("Copy Command line", shows(".panel .messages", "The command line (save the scenario under the name in it) is on the clipboard")),
	}
}

// galleryControls are those of the gallery and of the tour that begins there.
func galleryControls() []control {
	const exhibit = "^Raymond \\(a\\), frame"
	all := func(v *visit) { // none is looked for
		v.until(there(".exhibit"))
		v.keys("a", kb.ModifierCtrl)
		v.keys(kb.Delete)
		v.until(`document.querySelectorAll(".exhibit").length > 10`)
	}
	opened := and(not(there("dialog[open]")), shows("h1", "Raymond (a), frame by frame"))
	step := func(n int) string { return shows(".tour-count", fmt.Sprintf("Step %d of 6", n)) }
	// tour goes to a step of the tour, and waits for what it shows.
	tour := func(n int) func(*visit) {
		return func(v *visit) {
			all(v)
			tabbed(".gallery button", "^Take the tour", kb.Enter)(v)
			for i := 1; ; i++ {
				v.until(and(step(i), `document.activeElement.closest(".tour-card")`))
				v.until(shows("h1", map[bool]string{true: "The bank", false: "Ricart"}[i < 4]))
				if i == n {
					return
				}
				v.key(kb.Enter)
			}
		}
	}
	card := ".tour-card button"
	return []control{
		{name: "look for", is: ".gallery input", from: "g", lead: all, want: `document.querySelectorAll(".exhibit").length == 1`,
			mouse: func(v *visit) { v.clickOn(".gallery input", ""); v.keys("raymond frame") },
			keys:  []way{typed("raymond frame")}},
		{name: "an exhibit", is: ".exhibit", called: exhibit, from: "g", lead: all, want: opened,
			mouse: func(v *visit) { v.keys("raymond frame"); v.clickOn(".exhibit", exhibit) }, // what is far below does not exist yet
			keys: []way{typed("raymond frame" + kb.Enter), typed("raymond frame" + down + kb.Enter), func(v *visit) {
				v.keys("raymond frame")
				tabbed(".exhibit", exhibit, kb.Enter)(v)
			}}},
		{name: "another exhibit", is: ".exhibit", from: "g", lead: all, want: and(not(there("dialog[open]")), shows("h1", "The bank")),
			keys: []way{typed(down + down + up + kb.Enter)}},
		{name: "the gallery, once more", is: ".gallery button", called: "^Try again", fresh: true, want: there(".exhibit"),
			lead: func(v *visit) { v.lab.refuse("gallery"); v.key("g"); v.until(shows(".gallery .trouble", "on fire")) }},
		{name: "new scenario", is: ".gallery button", called: "^New scenario", from: "g", lead: all, want: there("dialog.panel-fresh")},
		{name: "tour", is: ".gallery button", called: "^Take the tour", from: "g", lead: all, want: and(step(1), shows("h1", "The bank"))},
		{name: "tour, next", is: card, called: "^Next", from: "g", lead: tour(2), want: step(3),
			keys: []way{typed(kb.Enter), typed(" ")}},
		{name: "tour, back", is: card, called: "^Back", from: "g", lead: tour(2), want: step(1),
			keys: []way{func(v *visit) { v.keys(kb.Tab, kb.ModifierShift); v.key(kb.Enter) }}},
		{name: "tour, leave", is: card, called: "^Leave", from: "g", lead: tour(1), want: not(there("dialog[open], .tour-card")),
			keys: []way{typed(kb.Escape), func(v *visit) { v.keys(kb.Tab, kb.ModifierShift); v.key(kb.Enter) }}},
		{name: "tour, prove it", is: card, called: "^Prove it", from: "g", lead: tour(6), want: shows(".check-verdict", "Proved"), keys: []way{typed(kb.Enter)}},
	}
}
