package document_test

import (
	"fmt"

	"github.com/stile-lock/stile/lab/internal/document"
)

func ExampleRun() {
	d := document.Run("algorithm ricart-agrawala\nprocesses 2\nhold 5\nat 0 P1 asks\nat 3 P2 asks\n", document.Options{})
	for _, x := range d.Deltas {
		if x.Wait != nil && *x.Wait != "" {
			fmt.Printf("after %q P%d %s\n", d.Events[x.Event-1].Text, x.Proc+1, *x.Wait)
		}
	}
	// Output:
	// after "P1 sends REQUEST (time 1) to P2." P1 waits for OK from P2; REQUEST is in flight from P1 to P2
	// after "P2 sends OK (time 2) to P1." P1 waits for OK from P2; OK is in flight
	// after "P2 sends REQUEST (time 2) to P1." P2 waits for OK from P1, which is inside; REQUEST is in flight from P2 to P1
	// after "P1 receives REQUEST (time 2) from P2." P2 waits for OK from P1; P1 defers P2, because it is inside
	// after "P1 sends OK (time 3) to P2." P2 waits for OK from P1; OK is in flight
}

func ExampleAct() {
	const text = "algorithm central\nprocesses 2\nat 0 P2 asks\n"
	e, err := document.Act(text, document.Options{}, 2, document.UserAction{Verb: "drop", Msg: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(e.Text)
	// Output:
	// algorithm central
	// processes 2
	// at 0 P2 asks
	// at 0.1 drop 2 -> 1 REQUEST
}
