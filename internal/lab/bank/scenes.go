package bank

import (
	"cmp"
	"slices"
)

// A Scene is the bank in other words: processes read a number over the network, take the
// next one, and write it back. Only what the number counts differs.
type Scene struct {
	Name   string
	Title  string
	Lane   string // lane that keeps the number
	Number string // name of the number in traces
	Who    string // who takes it
	Does   string // what each one does
	Thing  string // what each one takes
	Twice  string // what it means if two take the same
	Left   string // what the number is in the end, out of how many
}

// Scenes lists the scenes.
func Scenes() []Scene {
	return []Scene{{
		Name: "seats", Title: "The last seats", Lane: "hall", Number: "sold", Who: "box office", Thing: "seat",
		Does:  "reads how many seats are sold, sells the next one, and writes the new number back",
		Twice: "is sold twice: two people sit on it", Left: "The hall has recorded %s sold seats, but %s were sold",
	}, {
		Name: "ids", Title: "Unique ids", Lane: "counter", Number: "last", Who: "server", Thing: "id",
		Does:  "reads the last id, hands out the next one, and writes it back",
		Twice: "is handed out twice: two things have the same id", Left: "The counter is at %s after %s ids",
	}, {
		Name: "files", Title: "A file in a shared folder", Lane: "folder", Number: "lines", Who: "editor", Thing: "line",
		Does:  "loads the file, appends a line, and saves the file",
		Twice: "is written twice: the file saved last has only one of the two", Left: "The file has %s lines, but %s were added",
	}, {
		Name: "calendar", Title: "A shared calendar", Lane: "calendar", Number: "booked", Who: "secretary", Thing: "hour",
		Does:  "reads which hours are booked, books the next one, and saves the calendar",
		Twice: "is booked twice: two meetings, one room", Left: "The calendar has %s booked hours for %s meetings",
	}, {
		Name: "tasks", Title: "Workers that share tasks", Lane: "list", Number: "begun", Who: "worker", Thing: "task",
		Does:  "reads how many tasks have been started, takes the next one, and writes the new number back",
		Twice: "is done twice", Left: "The list shows %s tasks started, but workers took %s; the last tasks are never done",
	}}
}

// Config returns the scene for this many processes, each of which takes this many.
func (s Scene) Config(nodes, each int, seed uint64) Config {
	return Config{Machines: nodes, Deposits: each, Amount: 1, Seed: seed, Lane: s.Lane, Number: s.Number}
}

// A Double is a number that more than one process has taken.
type Double struct {
	Number int64 `json:"number"`
	By     []int `json:"by"`
}

// Doubles returns the numbers that were taken more than once, and the processes that took
// them.
func (r *Result) Doubles() []Double {
	by := map[int64][]int{}
	for _, t := range r.Taken {
		by[t.Sum] = append(by[t.Sum], int(t.By)+1)
	}
	all := []Double{}
	for n, who := range by {
		if len(who) > 1 {
			all = append(all, Double{n, who})
		}
	}
	slices.SortFunc(all, func(a, b Double) int { return cmp.Compare(a.Number, b.Number) })
	return all
}
