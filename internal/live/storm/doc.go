// Package storm runs whole processes on the project's event kernel, under every kind
// of fault, and judges every step by an oracle that sees true time and never asks a
// member.
//
// What runs is what the node ships: one process.Process in each place, driven by the
// loop of that package's manual. The storm hands in what happens, carries out the
// effects in their order, and shows the oracle what it judges by. The caller provides
// the disks and the logs of voters, so this package does not know what a log is made
// of. A disk takes time, stays in its place whichever process runs there, and loses
// what is in flight when the process ends.
//
// A run has four parts. First the cluster forms: one process founds it, and the others
// join. Then there are faults: the run's strikes, which are drawn from its seed once
// and can then be thinned. Then all heals, and after a time of grace every waiting
// request must be granted soon. At last no application asks any more: all that wait
// must enter, and then members must fall silent, and nothing may be written.
//
// All messages between processes meet the same faults, and so does the view service,
// which runs in them. Only the oracle's own eyes are exempt. It also judges agreement:
// an epoch has one view, voters have the same record, a voter that no longer leads
// renews no lease, and no evicted member acts for longer than the views say.
//
// A seed gives the same run, to the byte, on every machine.
package storm
