package console

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// merge is MergePatch of RFC 7386, section 2.
func merge(target, patch any) any {
	p, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	t, ok := target.(map[string]any)
	if !ok {
		t = map[string]any{}
	}
	for name, value := range p {
		if value == nil {
			delete(t, name)
		} else {
			t[name] = merge(t[name], value)
		}
	}
	return t
}

func parse(t testing.TB, text string) (v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v
}

// The examples of RFC 7386, appendix A, whose targets have no null.
func TestMerge(t *testing.T) {
	for _, x := range [][3]string{
		{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{`{"a":"b"}`, `{"a":null}`, `{}`},
		{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
		{`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`},
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
		{`["a","b"]`, `["c","d"]`, `["c","d"]`},
		{`{"a":"b"}`, `["c"]`, `["c"]`},
		{`[1,2]`, `{"a":"b","c":null}`, `{"a":"b"}`},
		{`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
	} {
		if got := merge(parse(t, x[0]), parse(t, x[1])); !reflect.DeepEqual(got, parse(t, x[2])) {
			t.Errorf("%s with %s: %v, want %s", x[0], x[1], got, x[2])
		}
	}
}

func TestDiff(t *testing.T) {
	for _, x := range [][3]string{
		{`{"a":1}`, `{"a":1}`, `{}`},
		{`{"a":1}`, `{}`, `{"a":null}`},
		{`{}`, `{"a":{}}`, `{"a":{}}`},
		{`{"a":{"b":1,"c":2}}`, `{"a":{"b":1,"c":3}}`, `{"a":{"c":3}}`},
		{`{"a":{"b":1}}`, `{"a":[1]}`, `{"a":[1]}`},
		{`{"a":[1]}`, `{"a":{"b":1}}`, `{"a":{"b":1}}`},
		{`{"a":{"b":1}}`, `{"a":{}}`, `{"a":{"b":null}}`},
		{`{"order":["x","y"]}`, `{"order":["y","x"]}`, `{"order":["y","x"]}`},
	} {
		from, to := parse(t, x[0]).(map[string]any), parse(t, x[1]).(map[string]any)
		if got := diff(from, to); !reflect.DeepEqual(got, parse(t, x[2])) {
			t.Errorf("from %s to %s: %v, want %s", x[0], x[1], got, x[2])
		}
	}
}

// hostile are texts that a lock, a label or a certificate may have.
var hostile = []string{"", "a", "__proto__", "null", "<script>alert(1)</script>", "\"\n\ndata: x\n\n", "\u2028", "é\x00", "a/b~1"}

// random returns a value without null, of some depth.
func random(r *rand.Rand, depth int) any {
	switch n := r.IntN(6); {
	case depth == 0 || n < 3:
		return []any{json.Number(fmt.Sprint(r.IntN(3))), hostile[r.IntN(len(hostile))], r.IntN(2) == 0}[r.IntN(3)]
	case n == 3:
		list := []any{}
		for range r.IntN(3) {
			list = append(list, random(r, depth-1))
		}
		return list
	}
	return randomObject(r, depth-1)
}

func randomObject(r *rand.Rand, depth int) map[string]any {
	o := map[string]any{}
	for range r.IntN(4) {
		o[hostile[r.IntN(len(hostile))]] = random(r, depth)
	}
	return o
}

// What a stream sends, applied by its reader, is the document.
func TestDeltasMakeDocuments(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		from, to := randomObject(r, 4), randomObject(r, 4)
		for range r.IntN(3) { // related documents
			from[hostile[r.IntN(len(hostile))]] = to
			to = map[string]any{"a": to, "order": random(r, 2)}
		}
		was := fmt.Sprint(from)
		patch, err := json.Marshal(diff(from, to))
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(from) != was {
			t.Fatalf("diff changes the old document %s", was)
		}
		full, err := json.Marshal(to)
		if err != nil {
			t.Fatal(err)
		}
		old, err := json.Marshal(from)
		if err != nil {
			t.Fatal(err)
		}
		if got := merge(parse(t, string(old)), parse(t, string(patch))); !reflect.DeepEqual(got, parse(t, string(full))) {
			t.Fatalf("from %v\nto %v\npatch %s\ngives %v", from, to, patch, got)
		}
		if strings.ContainsAny(string(patch)+string(full), "\r\n") {
			t.Fatalf("an event would have several lines: %s", patch)
		}
	}
}

func TestDocumentsWithoutNull(t *testing.T) {
	type inner struct {
		P *int     `json:"p"`
		L []string `json:"l"`
	}
	d, err := documentOf(struct {
		A any              `json:"a"`
		M map[string]inner `json:"m"`
		N []inner          `json:"n"`
		B int64            `json:"b"`
	}{M: map[string]inner{"x": {}}, N: []inner{{L: []string{}}}, B: 1 << 60})
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(d)
	if want := `{"b":1152921504606846976,"m":{"x":{}},"n":[{"l":[]}]}`; err != nil || string(b) != want {
		t.Errorf("%s, %v, want %s", b, err, want)
	}
	if _, err := documentOf([]int{1}); err == nil {
		t.Error("a list is a document")
	}
}
