// Package storm runs whole members, on the project's event kernel, under every
// fault there is, and judges every step by an oracle that sees true time and
// never asks a member.
//
// A run has three parts. First there are faults: the run's strikes, which are
// drawn from its seed once and can then be thinned. Then all heals, and after a
// time of grace every waiter must enter soon. At last nobody asks any more: all
// who wait must enter, and then members must fall silent.
//
// The view service is an oracle here: it has a true clock and never fails. What
// fails is everything between it, the members, their clients, and the resource
// that their locks protect.
//
// A seed gives the same run, to the byte, on every machine.
package storm
