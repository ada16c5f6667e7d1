// Package check explores every behaviour of a group of machines: the same
// code that the simulator runs, under every order of events.
//
//	report, err := check.Run(check.Config{Spec: mutex.RicartAgrawala(), Nodes: 3})
//
// A report has a verdict for each property. It is honest: holds means proved
// for this number of processes and any number of requests; holds-bounded says
// up to which bound; unfinished and not-checked say why; violated comes with
// the shortest counterexample, as a scenario that the simulator replays. What
// was seen but could not be shown in the time and memory there is, is
// unfinished. Config.Found is told of a violation when it is found.
//
// # How it works
//
// Package explore visits every state of a model, and knows nothing of
// algorithms. Two different states that share a fingerprint would be taken for
// one; the report says how probable that is. When something is broken, a second
// search that remembers every parent finds the way there.
//
// The group of machines is one model; package ring has another one. The states
// of single machines and the contents of messages, here called blobs, are few,
// so a global state names them by number, and what a machine does with an input
// is found out once, by running it.
//
// # Why an unbounded number of requests can be finite
//
// Algorithms only compare logical times, copy them and count up by one, so all
// states that agree in the order and nearness of their times behave alike:
// they are renumbered to one (canon.go). Counters that belong to one process
// are measured from what the token says of it. That this changes nothing is
// tested for every single step of every machine, by taking it again with all
// times moved (lift.go); an algorithm that does more with its times fails
// this, and is told so. Times that drift apart without bound (Spec.Spreads)
// are kept apart only as "next to" and "further": this can add behaviours but
// takes none away, so holds is right, and a violation is only reported if a
// real run shows it.
//
// # Infinite runs
//
// Starvation is a question about infinite runs, so it is asked of the state
// graph: the strongly connected parts in which a process waits (explore.Cut).
// Deliveries and exits are fair: what remains possible for ever happens.
// Requests are not: nobody must ask again. With a bound on requests most graphs
// have no cycle. One search in depth shows that (explore.OutlookOf); then every
// run ends, and to starve is to be in a deadlock.
//
// # Applications that talk
//
// For order-open, messages between applications take no time and are only sent
// right before the receiver asks (moves.go): the one reduction there is among
// locks. The tests compare it with applications that talk at any time.
//
// # Processes that die, and time
//
// Elections are checked with crashes, comebacks and timers that run out in time
// (electorate.go). What is sent to the dead is lost as late as makes no
// difference (lost.go), and time stands still while no timer runs. Of the timers
// of sites, those do not run that would change nothing (deadlock_canon.go). The
// tests compare each of these with the model that does without.
//
// # What is not here
//
// No reduction by symmetry or partial order: ties are broken by ids, so most
// algorithms are not symmetric, and the state spaces are small enough. No
// depth-first search for counterexamples: they would be long.
package check
