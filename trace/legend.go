package trace

import "slices"

// legend explains what is in the picture, and nothing else, in as many rows as needed. It
// returns where the next row would be.
func (p *plan) legend(y Length) Length {
	g := &p.l.Page
	x := g.Left
	for _, s := range p.samples() {
		wide := 44*pixel + TextWidth(s.Text, barType) + 20*pixel
		if x > g.Left && x+wide > g.Width {
			x, y = g.Left, y+20*pixel
		}
		s.X, s.Y, s.TextX, s.TextY = x, y, x+44*pixel, y+4*pixel
		p.l.Legend = append(p.l.Legend, s)
		x += wide
	}
	if len(p.l.Legend) == 0 {
		return y
	}
	return y + 20*pixel
}

// samples returns what is in the picture and needs an explanation.
func (p *plan) samples() []Sample {
	all := p.arrowSamples()
	for _, bar := range []struct{ means, text string }{
		{BarWaiting, either(p.t.Waiting != "", clean(p.t.Waiting), "waiting")},
		{BarInside, either(p.t.Inside != "", clean(p.t.Inside), "critical section")},
		{BarBroken, "two inside"},
	} {
		if slices.ContainsFunc(p.l.Bars, func(b Bar) bool { return b.Means == bar.means }) {
			all = append(all, Sample{Shows: SampleBar, Means: bar.means, Kind: -1, Text: bar.text})
		}
	}
	for _, mark := range []struct{ means, text string }{
		{MarkCrash, "crash"}, {MarkRestart, "recovers, with nothing remembered"}, {MarkPause, "stands still"}, {MarkResume, "goes on"},
		{MarkSuspect, "suspicion"}, {MarkTrust, "trusts again"}, {MarkTimer, "timer runs out"}, {MarkLead, "leads"}, {MarkDenied, "refused"},
		{MarkEnded, "is done"}, {MarkAbort, "chooses a victim"}, {MarkNote, "note"}, {MarkViolation, "violation"},
	} {
		if slices.ContainsFunc(p.l.Marks, func(m Mark) bool { return m.Means == mark.means }) {
			all = append(all, Sample{Shows: SampleMark, Means: mark.means, Kind: -1, Text: mark.text})
		}
	}
	placed := slices.ContainsFunc(p.l.Marks, func(m Mark) bool { return m.Means == MarkViolation })
	for _, line := range []struct{ means, text string }{
		{UprightCut, "network cut"}, {UprightHealed, "network whole again"}, {UprightViolation, "violation"}, {UprightFocus, "focus"}, {UprightNote, "remark"},
	} {
		if placed && line.means == UprightViolation {
			continue // its mark is explained
		}
		if slices.ContainsFunc(p.l.Uprights, func(u Upright) bool { return u.Means == line.means }) {
			all = append(all, Sample{Shows: SampleUpright, Means: line.means, Kind: -1, Text: line.text})
		}
	}
	return all
}

// arrowSamples explains the arrows.
func (p *plan) arrowSamples() []Sample {
	var all []Sample
	some := func(what func(a *Arrow) bool) bool {
		return slices.ContainsFunc(p.l.Arrows, func(a Arrow) bool { return what(&a) })
	}
	for i, k := range p.l.Kinds {
		if !some(func(a *Arrow) bool { return a.Kind == i }) {
			continue
		}
		text := k.Name
		if p.letters && k.Letter != k.Name && some(func(a *Arrow) bool { return a.Kind == i && a.Label != nil }) {
			text = k.Letter + " = " + k.Name
		}
		all = append(all, Sample{Shows: SampleArrow, Kind: i, Text: text})
	}
	if some(func(a *Arrow) bool { return a.End == EndLost }) {
		all = append(all, Sample{Shows: SampleEnd, Means: EndLost, Kind: -1, Text: "lost"})
	}
	if some(func(a *Arrow) bool { return a.End == EndOpen }) {
		all = append(all, Sample{Shows: SampleEnd, Means: EndOpen, Kind: -1, Text: "still on its way"})
	}
	if some(func(a *Arrow) bool { return a.Copy && p.letters && a.Label != nil }) {
		all = append(all, Sample{Shows: SampleCopy, Kind: -1, Text: "copy made by the network"})
	}
	return all
}
