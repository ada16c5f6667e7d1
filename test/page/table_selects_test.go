package page

import (
	"fmt"
	"slices"
	"strings"

	"github.com/chromedp/chromedp/kb"
)

// A list is a native select: where it is, and the values of its options, in order.
type list struct {
	is, called string
	from       string       // keys that lead there
	lead       func(*visit) // and what else does
	values     []string
	usual      int // which of them other controls rely on
}

// options are the controls of a select, one for each option: chosen in the list that
// opens by a click, or with the arrows of the keyboard. The usual one comes last.
func (l list) options() []control {
	var all []control
	for i := range l.values {
		all = append(all, l.option(i))
	}
	usual := all[l.usual]
	return append(slices.Delete(all, l.usual, l.usual+1), usual)
}

func (l list) option(i int) control {
	value := quote(l.values[i])
	this := finding(l.is, l.called) + `?.value`
	elsewhere := kb.Home
	if i == 0 {
		elsewhere = kb.End
	}
	return control{name: l.called + " " + l.values[i], is: l.is, called: l.called, option: l.values[i], from: l.from, want: this + ` == ` + value,
		lead: func(v *visit) {
			if l.lead != nil {
				l.lead(v)
			}
			v.tabTo(l.is, l.called)
			v.key(elsewhere)
			v.until(this + ` != ` + value)
		},
		mouse: func(v *visit) {
			v.clickOn(l.is, l.called)
			v.key(kb.Home + strings.Repeat(down, i) + kb.Enter)
		},
		keys: []way{
			tabbed(l.is, l.called, kb.Home+strings.Repeat(down, i)),
			tabbed(l.is, l.called, kb.End+strings.Repeat(up, len(l.values)-1-i)),
		}}
}

// pick goes by arrows to the option that begins with these words, in a select that has
// the focus: letters that come slowly, one after the other, would not be taken together.
func (v *visit) pick(words string) {
	v.t.Helper()
	far := eval[int](v.page, `((s) => [...s.options].findIndex((o) => o.text.toLowerCase().startsWith(`+quote(words)+`)) - s.selectedIndex)(document.activeElement)`)
	v.key(strings.Repeat(down, max(far, 0)) + strings.Repeat(up, max(-far, 0)))
	v.until(`document.activeElement.selectedOptions[0].text.toLowerCase().startsWith(` + quote(words) + `)`)
}

// freshLists are the selects of a new scenario.
func freshLists() []control {
	of := func(called string, values ...string) []control {
		return list{is: ".fresh select", called: "^" + called, from: "n", values: values}.options()
	}
	afterCrash := list{is: ".fresh select", called: "^After a crash", from: "n", values: []string{"nothing", "bully", "ring-election", "chang-roberts", "hasty"},
		lead: func(v *visit) {
			v.until(`document.activeElement.matches(".fresh select")`)
			v.pick("token ring (")
		}}
	return slices.Concat(of("Network", "fifo", "unordered", "duplicating", "lossy"), of("Schedule", "timed", "steps"),
		of("Requests", "all", "one", "none"), afterCrash.options(), []control{everyAlgorithm()})
}

// everyAlgorithm goes through all algorithms of a new scenario, one after the other,
// and ends at the last; by mouse to the first of each family.
func everyAlgorithm() control {
	const is, called = ".fresh select", "^Algorithm"
	this := finding(is, called)
	choose := func(v *visit, i int, do func()) {
		want := eval[string](v.page, fmt.Sprintf(`%s.options[%d].value`, this, i))
		do()
		v.until(this + `.value == ` + quote(want))
	}
	count := this + `.options.length`
	return control{name: "every algorithm", is: is, called: called, option: "*", from: "n", want: this + `?.selectedIndex == ` + count + ` - 1`,
		lead: func(v *visit) { v.tabTo(is, called); v.key(kb.Home) },
		mouse: func(v *visit) {
			firsts := eval[[]int](v.page, `((s) => [...s.querySelectorAll("optgroup")].map((g) => g.firstElementChild.index).concat(s.options.length - 1))(`+this+`)`)
			for _, i := range firsts {
				choose(v, i, func() {
					v.clickOn(is, called)
					v.key(kb.Home + strings.Repeat(down, i) + kb.Enter)
				})
			}
		},
		keys: []way{func(v *visit) {
			v.tabTo(is, called)
			for i := range eval[int](v.page, count) {
				if i > 0 {
					choose(v, i, func() { v.key(down) })
				}
			}
		}}}
}
