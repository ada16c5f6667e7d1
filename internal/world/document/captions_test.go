package document

import "testing"

// A caption appears when the step is over in which its moment comes, in a timed run and in
// steps.
func TestCaptionsAtSteps(t *testing.T) {
	for _, text := range []string{
		"algorithm ricart-agrawala\nprocesses 3\nsay \"a\"\nat 0 P1 asks\nwhen P1 enters say \"b\"\n",
		"algorithm ricart-agrawala\nprocesses 2\nschedule steps\nsay \"a\"\nP1 asks\nsay \"b\"\ndeliver all\n",
	} {
		d := Run(text, Options{})
		if d.Error != nil {
			t.Fatal(d.Error)
		}
		if len(d.Captions) != 2 || d.Captions[0].Event != 0 || d.Captions[0].Text != "a" || d.Captions[1].Event == 0 {
			t.Fatalf("captions %+v", d.Captions)
		}
		if at := d.Captions[1].Event; at < len(d.Events) && d.Events[at].Part {
			t.Errorf("a caption comes after %d events, in the middle of a step", at)
		}
	}
}
