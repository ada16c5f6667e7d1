// Command mutants measures how well the tests of the live core notice changes of it.
// Run it with 'make mutants'; docs/results/mutants.md is what it writes.
//
// A mutant is the source with one small change: a statement dropped, a condition
// negated or weakened, a number off by one, two operands or arguments exchanged, an
// assignment skipped, a result replaced. A mutant that makes a test fail, run out of
// time or run out of memory is killed. One that survives shows a hole in the tests,
// unless it does the same as the original; equivalent.txt lists those, with reasons.
//
// All mutants of a package are compiled into one binary, so none needs a build of its
// own. Each place that is mutated asks mutantOn(number) whether its mutant is selected
// (runtime.txt), and does what the original does if not. The rewritten sources replace
// the real ones in an overlay of the go command, and exist in a temporary folder only.
//
// First every test runs alone with STILE_MUTANT=cover, which records the mutants that
// it reaches and how long it takes. Then each mutant runs with STILE_MUTANT=package:number
// against the tests that reach it, the fast ones first: those of its own package, then
// those of the model and of the storm (see targets). Results are appended to a file as
// they come, so a run that is interrupted continues where it stopped. They are keyed by
// the code of the function, so they survive edits of others.
package main
