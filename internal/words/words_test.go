package words

import (
	"math"
	"slices"
	"testing"
)

func TestWords(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{Grouped(0), "0"}, {Grouped(999), "999"}, {Grouped(1000), "1,000"}, {Grouped(int64(-1234567)), "-1,234,567"},
		{List(nil), ""}, {List([]string{"a"}), "a"}, {List([]string{"a", "b"}), "a and b"}, {List([]string{"a", "b", "c"}), "a, b and c"},
		{Plural(1, "process"), "1 process"}, {Plural(2, "process"), "2 processes"}, {Plural(0, "entry"), "0 entries"},
		{Plural(3, "crash"), "3 crashes"}, {Plural(12345, "step"), "12,345 steps"},
		{Number(0), "0.00"}, {Number(0.05), "0.0500"}, {Number(3.14159), "3.14"}, {Number(-31.4159), "-31.4"}, {Number(314.159), "314"}, {Number(314159.3), "3.14e+05"},
		{Number(math.NaN()), "-"}, {Compact(math.NaN()), "-"}, {Compact(314159.3), "314k"}, {Compact(9999.4), "9999"}, {Compact(31.4159), "31.4"},
		{Plain(2), "2"}, {Plain(2.5), "2.5"}, {Plain(100), "100"}, {Plain(0.126), "0.13"}, {Range(1, 1), "1"}, {Range(1, 2.5), "1..2.5"}, {Trimmed(0.0125, 4), "0.0125"},
	} {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
}

// No character of a name reaches a terminal that would obey it, and what is quoted cannot
// be confused with what is not.
func TestQuoted(t *testing.T) {
	for _, test := range []struct{ text, quoted, printable string }{
		{"orders/42", "orders/42", "orders/42"},
		{"", "", ""},
		{"größe 7 ✗", "größe 7 ✗", "größe 7 ✗"},
		{" a", `" a"`, " a"},
		{`"a"`, `"\"a\""`, `"a"`},
		{`a"b\n`, `a"b\n`, `a"b\n`},
		{"a\x1b[31mb\n", `"a\x1b[31mb\n"`, `a\x1b[31mb\n`},
		{"\u009b2J", `"\u009b2J"`, `\u009b2J`},
		{"a\u202eb", `"a\u202eb"`, `a\u202eb`},
		{"a\xff", `"a\xff"`, `a\xff`},
		{"\ufffd", "\ufffd", "\ufffd"},
	} {
		if got := Quoted(test.text); got != test.quoted {
			t.Errorf("Quoted(%q) is %s, want %s", test.text, got, test.quoted)
		}
		if got := Printable(test.text); got != test.printable {
			t.Errorf("Printable(%q) is %s, want %s", test.text, got, test.printable)
		}
	}
}

// Lines have at most as many columns as they may, unless one word has more.
func TestWrap(t *testing.T) {
	got := Wrap(" größe of a\nverylongword  in x", 9)
	if want := []string{"größe of", "a", "verylongword", "in x"}; !slices.Equal(got, want) {
		t.Errorf("%q instead of %q", got, want)
	}
}
