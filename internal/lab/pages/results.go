package pages

import "strings"

// Results are the texts of pages in docs/results.
type Results struct {
	Proofs, ProofsLong, TLA, Faults, Live string
}

// A table is a table of a Markdown page.
type table struct {
	title  string // heading before it
	header []string
	rows   [][]string
}

// tablesOf returns the tables of a page.
func tablesOf(page string) []table {
	var all []table
	var title, before string
	in := false
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "#"):
			title, in = strings.TrimLeft(line, "# "), false
		case strings.HasPrefix(line, "|--"):
			all, in = append(all, table{title: title, header: cells(before)}), true
		case in && strings.HasPrefix(line, "|"):
			t := &all[len(all)-1]
			t.rows = append(t.rows, cells(line))
		default:
			in = false
		}
		before = line
	}
	return all
}

func cells(line string) []string {
	all := strings.Split(strings.Trim(line, "|"), "|")
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return all
}

// column returns the index of the column with a name, or -1.
func (t table) column(name string) int {
	for i, h := range t.header {
		if h == name {
			return i
		}
	}
	return -1
}

// of returns the cell of a row in the column with a name, or "".
func (t table) of(row []string, name string) string {
	if i := t.column(name); i >= 0 && i < len(row) {
		return row[i]
	}
	return ""
}

// find returns the rows whose first cell satisfies is.
func (t table) find(is func(first string) bool) [][]string {
	var all [][]string
	for _, r := range t.rows {
		if is(r[0]) {
			all = append(all, r)
		}
	}
	return all
}

// tableWith returns the first table with this heading and column.
func tableWith(page, title, column string) table {
	for _, t := range tablesOf(page) {
		if (title == "" || t.title == title) && t.column(column) >= 0 {
			return t
		}
	}
	return table{}
}
