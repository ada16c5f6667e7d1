// Command mutants measures how well the tests of the live core and of the checker detect
// changes of them. Run it with 'make mutants'; it writes docs/results/mutants.md.
//
// A mutant is the source with one small change: a statement dropped, a condition negated or
// weakened, a number off by one, two operands or arguments exchanged, an assignment
// skipped, a result replaced. A mutant that makes a test fail, run out of time or run out
// of memory is killed. One that survives shows a hole in the tests, unless it is equivalent
// to the original; equivalent.txt lists those, with reasons.
//
// All mutants of a package are compiled into one binary, so none needs a build of its own.
// Each mutated place asks mutantOn(number) whether its mutant is selected (runtime.txt),
// and behaves like the original if not. The rewritten sources replace the real ones in an
// overlay of the go command, and exist only in a temporary folder.
//
// First every test runs alone with STILE_MUTANT=cover, which records the mutants that it
// reaches and how long it takes. Then each mutant runs with STILE_MUTANT=package:number
// against the tests that reach it, fast ones first: those of its own package, then those of
// the model and of the storm, or the quicker ones of the checker (see targets). Results are
// appended to a file as they arrive, so an interrupted run continues where it stopped. They
// are keyed by the code of the function, so they survive edits of other functions.
package main
