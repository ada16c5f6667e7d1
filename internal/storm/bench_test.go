package storm

import "testing"

// A typical seed: its time is what a run of many of them takes.
func BenchmarkSeed(b *testing.B) {
	var sum Result
	seed := uint64(0)
	for b.Loop() {
		r, err := Run(pick(seed))
		if err != nil {
			b.Fatal(err)
		}
		seed++
		sum.Entries += r.Entries
		sum.Views += r.Views
		sum.Strikes += r.Strikes
	}
	b.ReportMetric(float64(sum.Entries)/float64(seed), "entries/op")
	b.ReportMetric(float64(sum.Views)/float64(seed), "views/op")
	b.ReportMetric(float64(sum.Strikes)/float64(seed), "strikes/op")
}
