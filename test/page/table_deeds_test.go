package page

import (
	"fmt"
	"strings"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Texts in which everything can be done to processes and messages.
const (
	byHand     = "title By hand\nalgorithm ricart-agrawala\nprocesses 4\nhold 5\nat 0 P1 asks\n"
	overtaking = "title One after the other\nalgorithm lamport\nprocesses 2\nhold 5\nat 0 P1 asks\nat 0.1 P2 asks\n"
	struck     = "title Struck\nalgorithm ricart-agrawala\nprocesses 5\nhold 5\nat 0 P1 asks\nat 0.2 crash P2\nat 0.3 pause P3\nat 0.4 P1 suspects P5\nat 0.5 partition 1,2,3,5 | 4\n"
	sites      = "title Two sites\nalgorithm detect-distributed\nprocesses 3\nsite 1 P1 P2 L1\nsite 2 P3 L2 L3\nschedule steps\nP1 takes L1\ncrash site 2\n"
	timedSites = "title Two sites in time\nalgorithm detect-central\nprocesses 2\nsite 1 P1 L1\nsite 2 P2 L2\nuntil 2\nat 0 P1 takes L1 L2\nat 0 P2 takes L2 L1\nat 1.5 crash site 2\n"
	waits      = "title Who waits\nalgorithm none\nprocesses 3\nsite 1 P1 P2 P3 L1\nsite 2 L2\nschedule steps\nP1 takes L1\nP2 takes L1\nP3 takes L2\n"
	resources  = "title Units\nprocesses 3\nresources R1 1 R2 2\nP1 has R1\nP2 has R2\nP3 asks R2\n"
	election   = "title Who leads\nalgorithm bully\nprocesses 3\nschedule steps\nP1 asks\ncrash P3\ncrash P2\nP1 timer 0 expires\n"
)

// process is how the menu of a process is opened: by mouse, and by key.
func process(n int) (selector, key string) {
	return fmt.Sprintf(".process[data-proc='%d']", n-1), fmt.Sprint(n)
}

// message is how the menu of a message is opened.
func message(n int) (selector, key string) {
	return fmt.Sprintf(".letter[data-msg='%d']", n), "m" + strings.Repeat(right, n-1)
}

// deed is an item of a menu: by mouse with two clicks; by keyboard with its own key, if
// it has one, and with the arrows and Enter.
func deed(label, key, from string, of func(int) (string, string), n int, want string) control {
	return inMenu(label, key, from, of, n, want)
}

// inMenu is an item of a menu that is there when others were chosen before it.
func inMenu(label, key, from string, of func(int) (string, string), n int, want string, before ...string) control {
	selector, opens := of(n)
	called := func(label string) string { return "^" + label + "( [a-z]|$)" }
	item := func(v *visit, label string) {
		v.until(offers(called(label)))
		v.downTo(called(label))
	}
	open := func(v *visit) {
		v.key(opens)
		for _, label := range before {
			item(v, label)
			v.key(kb.Enter)
		}
		v.until(offers(called(label)))
	}
	keys := []way{func(v *visit) {
		open(v)
		item(v, label)
		v.key(kb.Enter)
	}}
	if key != "" {
		keys = append(keys, func(v *visit) { open(v); v.key(key) })
	}
	return control{name: label, is: "[role=menuitem]", called: called(label), from: from, want: want, keys: keys,
		mouse: func(v *visit) {
			v.clickOn(selector, "")
			for _, label := range before {
				v.clickOn("[role=menuitem]", called(label))
			}
			v.clickOn("[role=menuitem]", called(label))
		}}
}

// offers says that an item is in a menu.
func offers(called string) string {
	return `Boolean(` + finding("[role=menuitem]", called) + `)`
}

// downTo goes to an item of a menu by arrows.
func (v *visit) downTo(called string) {
	v.t.Helper()
	for range 20 {
		if eval[bool](v.page, `document.activeElement === `+finding("[role=menuitem]", called)) {
			return
		}
		v.key(down)
	}
	v.t.Fatalf("%s: the arrow never gets to %s", v.trying, called)
}

// is says how a process is.
func is(proc int, status string) string {
	return there(fmt.Sprintf(".process[data-proc='%d'].is-%s", proc-1, status))
}

// chosen is how many processes are chosen to be cut off.
func chosen(n int) string {
	return fmt.Sprintf(`document.querySelectorAll(".process .chosen").length == %d`, n)
}

func processDeeds() []control {
	menu := shows("[role=menu]", "P2: idle")
	noMenu := not(there("[role=menu]"))
	return []control{
		{name: "whom a process needs", is: ".process", from: right, want: not(there(".answers .needs.minded")),
			mouse: func(v *visit) { v.pointAt(".process[data-proc='2']", "") }, keys: []way{func(v *visit) { v.tabTo(".process[data-proc='2']", "") }}},
		{name: "a process", is: ".process", from: right, mouse: clicks(".process[data-proc='1']"), want: menu,
			keys: []way{typed("2"), tabbed(".process[data-proc='1']", "", kb.Enter), tabbed(".process[data-proc='1']", "", " ")}},
		{name: "a menu is left", is: "[role=menuitem]", from: right + "2", want: noMenu,
			mouse: func(v *visit) { v.see("[role=menu]"); v.do(chromedp.MouseClickXY(3, 3)) }, keys: []way{typed(kb.Escape), typed(kb.Tab)}},
		{name: "a process is chosen", is: ".process", after: "2+", from: right, want: chosen(1),
			mouse: func(v *visit) {
				v.clickOn(".process[data-proc='1']", "", chromedp.ButtonModifiers(chromedp.ModifierShift))
			},
			keys: []way{typed("2+"), func(v *visit) {
				v.tabTo(".process[data-proc='1']", "")
				v.keys(kb.Enter, kb.ModifierShift)
			}}},
		taken(deed("add to a group to cut off", "+", right, process, 3, chosen(1)), "3+"),
		taken(deed("remove from the group to cut off", "+", right+"2+3+", process, 3, chosen(1)), "2+"),
		deed("cut off P2, P3 together", "x", right+"2+3+", process, 1, and(inText("partition 2,3 | 1,4"), chosen(0))),
		deed("is cut off from the others", "x", right, process, 2, inText("partition 2 | 1,3,4")),
		deed("asks", "a", right, process, 3, and(inText("P3 asks"), is(3, "waiting"), shows(".editor-line.is-newest", "P3 asks"))),
		deed("leaves", "l", "e", process, 1, and(inText("P1 leaves"), is(1, "idle"))),
		deed("crashes", "c", right, process, 2, and(inText("crash P2"), is(2, "crashed"))),
		deed("pauses", "p", right, process, 2, and(inText("pause P2"), is(2, "paused"))),
	}
}

// taken says which keys take back what a control did.
func taken(c control, after string) control {
	c.after = after
	return c
}

func messageDeeds() []control {
	go1 := func(called string) way {
		return func(v *visit) {
			v.until(`Boolean(` + finding("[role=menuitem]", called) + `)`)
			v.key(kb.Enter)
		}
	}
	// The first message is the first of the first path, which has several: that place of
	// it is clicked.
	arrow := func(v *visit) {
		v.until(there(".arrow path"))
		at := eval[[2]float64](v.page, `(way => { const p = way.getPointAtLength(30).matrixTransform(way.getScreenCTM()); return [p.x, p.y] })(document.querySelector(".arrow path"))`)
		v.do(chromedp.MouseClickXY(at[0], at[1]))
	}
	return []control{
		{name: "a message", is: ".letter", from: right, mouse: clicks(".letter[data-msg='2']"), want: shows("[role=menu]", "REQUEST P1 → P3"),
			keys: []way{typed("m" + right), typed("mm"), typed("m" + left + left), tabbed(".letter[data-msg='2']", "", kb.Enter), tabbed(".letter[data-msg='2']", "", " ")}},
		{name: "a message of the diagram", is: ".plot-things", from: right, mouse: arrow, want: shows("[role=menu]", "REQUEST P1 → P2"), keys: []way{typed("m")}},
		{name: "where it is sent", is: "[role=menuitem]", called: "^go to where it is sent", want: there(".letter[data-msg='1']"),
			mouse: func(v *visit) { arrow(v); v.clickOn("[role=menuitem]", "^go to") }, keys: []way{typed(right), func(v *visit) { arrow(v); go1("^go to")(v) }}},
		{name: "where it was under way", is: "[role=menuitem]", called: "^go back to where", from: kb.End, want: there(".letter[data-msg='1']:not(.over)"),
			mouse: func(v *visit) { arrow(v); v.clickOn("[role=menuitem]", "^go back") }, keys: []way{typed(kb.Home + right), func(v *visit) { arrow(v); go1("^go back")(v) }}},
		deed("arrives now", "d", right, message, 2, inText("deliver 1 -> 3 REQUEST")),
		deed("takes 1 T longer", "1", right, message, 2, inText("delay 1 -> 3 REQUEST by 1")),
		deed("takes 5 T longer", "5", right, message, 2, inText("delay 1 -> 3 REQUEST by 5")),
		deed("is lost", "x", right, message, 2, and(inText("drop 1 -> 3 REQUEST"), there(".beyond"))),
		deed("arrives twice", "2", right, message, 2, inText("duplicate 1 -> 3 REQUEST")),
	}
}

// orderDeeds are about two messages, one behind the other: 2 and 3.
func orderDeeds() []control {
	nth := func(n int) (string, string) {
		selector, _ := message(n)
		return selector, map[int]string{2: "m", 3: "m" + right}[n]
	}
	return []control{
		deed("overtakes the messages ahead", "f", right+right+right, nth, 3, inText("deliver 2 -> 1 REPLY")),
		deed("is overtaken by the next", "o", right+right+right, nth, 2, inText("reorder 2 -> 1 REQUEST")),
	}
}

func struckDeeds() []control {
	return []control{
		deed("restarts", "s", kb.End, process, 2, and(inText("restart P2"), is(2, "idle"))),
		deed("resumes", "r", kb.End, process, 3, and(inText("resume P3"), is(3, "idle"))),
		deed("the network heals", "h", kb.End, process, 4, inText("heal")),
		deed("suspects that P2 has crashed", "", kb.End, process, 1, inText("P1 suspects P2")),
		deed("trusts P5 again", "", kb.End, process, 1, inText("P1 trusts P5")),
	}
}

func sectionDeeds() []control {
	return []control{
		deed("asks for films", "", right, process, 3, inText("P3 asks films")),
		deed("leaves seats", "", "e", process, 2, inText("P2 leaves seats")),
	}
}

func electionDeeds() []control {
	die := list{is: ".check-setting select", called: "^Processes that crash", from: "k", lead: func(v *visit) { v.see("dialog.panel-check") }, values: []string{"0", "1", "2"}, usual: 1}
	return append([]control{
		deed("calls an election", "a", right, process, 2, inText("P2 asks")),
		deed("timer 0 expires", "t", right, process, 1, inText("schedule steps\nP1 timer 0 expires\n")),
		{name: "next leader", is: "button", called: "^next leader", want: shows(".event.current", "lead"), keys: []way{typed("e"), tabbed("button", "^next leader", kb.Enter)}},
	}, die.options()...)
}

// siteDeed is an item of the menu of a site, which no key opens.
func siteDeed(label, key, from string, n int, want string) control {
	selector := fmt.Sprintf(".site[data-proc='%d']", n-1)
	c := deed(label, key, from, func(int) (string, string) { return selector, "" }, n, want)
	c.keys = []way{func(v *visit) {
		v.tabTo(selector, "")
		v.key(kb.Enter)
		v.until(`Boolean(` + finding("[role=menuitem]", "^"+label) + `)`)
		v.downTo("^" + label)
		v.key(kb.Enter)
	}}
	return c
}

// timedSiteDeeds are what sites do by themselves too, in time.
func timedSiteDeeds() []control {
	return []control{
		siteDeed("timer 0 expires", "", kb.End, 1, inText("site 1 timer 0 expires")),
		siteDeed("suspects that site 2 has crashed", "", kb.End, 1, inText("site 1 suspects site 2")),
	}
}

func siteDeeds() []control {
	// The lanes of processes come behind those of the two sites.
	process := func(n int) (string, string) { return fmt.Sprintf(".process[data-proc='%d']", n+1), fmt.Sprint(n) }
	// lock is an item of the menu of P3 that others led to.
	lock := func(label, key, want string, before ...string) control {
		return inMenu(label, key, right, process, 3, want, before...)
	}
	return []control{
		{name: "a site", is: ".site", mouse: clicks(".site[data-proc='0']"), want: shows("[role=menu]", "site 1: idle"),
			keys: []way{tabbed(".site[data-proc='0']", "", kb.Enter), tabbed(".site[data-proc='0']", "", " ")}},
		lock("takes locks …", "a", offers("^first L1")),
		lock("first L2", "2", offers("^takes L2$"), "takes locks …"),
		lock("then L3", "3", offers("^takes L2, then L3"), "takes locks …", "first L2"),
		lock("remove L2", kb.Backspace, offers("^first L2"), "takes locks …", "first L2"),
		lock("back", kb.Backspace, offers("^takes locks …"), "takes locks …"),
		lock("takes L2", "a", inText("P3 takes L2\n"), "takes locks …", "first L2"),
		lock("takes L2, then L3", "a", inText("P3 takes L2 L3\n"), "takes locks …", "first L2", "then L3"),
		deed("goes on to its next", "g", right, process, 1, inText("P1 goes")),
		siteDeed("crashes", "c", right, 1, and(inText("crash site 1"), there(".site[data-proc='0'].is-crashed"))),
		siteDeed("suspects that site 2 has crashed", "", kb.End, 1, inText("site 1 suspects site 2")),
	}
}

// waitDeeds are about an edge of the wait-for graph, which has been there for a while.
func waitDeeds() []control {
	edge := func(int) (string, string) { return ".wait", "" }
	item := func(label, want string) control {
		c := deed(label, "", kb.End, edge, 0, want)
		c.keys = []way{func(v *visit) {
			v.tabTo(".wait", "")
			v.key(kb.Enter)
			v.until(offers("^" + label))
			v.downTo("^" + label)
			v.key(kb.Enter)
		}}
		return c
	}
	return []control{
		{name: "who waits for whom", is: ".wait", from: kb.End, want: shows("[role=menu]", "P2 waits for P1, which holds L1, since event 6"),
			keys: []way{tabbed(".wait", "", kb.Enter), tabbed(".wait", "", " ")}},
		item("go to where that began", shows(".event.current", "P2 asks for L1")),
		item("P1 goes on to its next", inText("P1 goes")),
	}
}

func graphDeeds() []control {
	return []control{
		{name: "who asks for what", is: ".arc", called: "asks for", want: shows("[role=menu]", "P3 asks for 1 R2: 1 free, so it can get it"),
			keys: []way{tabbed(".arc", "asks for", kb.Enter), tabbed(".arc", "asks for", " ")}},
		{name: "who has what", is: ".arc", called: " has ", want: shows("[role=menu]", "P2 has 1 R2: P3 asks for it too"),
			mouse: clicks(".arc[aria-label^=P2]"), keys: []way{tabbed(".arc", "P2 has", kb.Enter)}},
		deed("asks for a unit of R1", "", "", process, 3, inText("P3 asks R1\n")),
		deed("asks for one more R2", "", "", process, 3, inText("P3 asks R2 2\n")),
		deed("is granted a unit of R2", "", "", process, 3, inText("P3 has R2\n")),
		deed("withdraws its request for R2", "", "", process, 3, not(inText("P3 asks R2"))),
		deed("releases a unit of R1", "", "", process, 1, not(inText("P1 has R1"))),
	}
}
