package algorithm

import "github.com/stile-lock/stile/algorithm/host"

// An ID is a seat: the dense index, from 0, of a process in its view. People see seats
// numbered from 1.
type ID = host.ID

// None is the ID of no seat.
const None = host.None

// A View is all that a machine knows when it is created, apart from its Spec's topology.
type View = host.View

// A Machine is an algorithm at one seat, as a host drives it. An author makes it with New,
// NewElection or NewSite, and needs none of its methods.
type Machine = host.Machine
