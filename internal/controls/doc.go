// Package controls holds the negative controls: rules of docs/protocol.md, each broken by a
// rewrite of the source, and the tests that must then fail. A check that has never failed
// proves nothing.
//
// Shipped source has one protocol and no switches. A control names a file, a text in it and
// its replacement. All rewrites are applied to copies, which one build with 'go test
// -overlay' compiles in place of the files. In that build a call broken("Name") reports
// whether the environment variable STILE_CONTROL selects the control Name. So the same test
// binary runs every control, and the correct protocol if the variable is not set.
//
// Nightly, the test of this package builds the tests of all packages named in the table. Each
// of the tests must pass with no control selected, and fail with its control selected. A test that
// panics, times out or does not exist finds nothing.
//
// To add a control, append it to the table of its package (member.go, views.go and so on):
//
//   - Old must occur exactly once in the file. If it no longer does, or if two rewrites
//     overlap, 'make test' fails and names the control.
//   - New must call broken with the control's name, and behave like Old if that is false.
//   - Tests names what finds it: a scripted test, the storm with a tuning of
//     internal/storm/tuned_test.go, or a setting of
//     lab/internal/viewmodel/smallest_test.go. If none does, write a plain test of the
//     correct behaviour.
//   - Name it in docs/protocol.md, next to the rule.
//
// Then run 'STILE_NIGHTLY=1 go test ./internal/controls -run TestControls/Name -v'.
package controls
