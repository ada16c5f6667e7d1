package page

import (
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stile-lock/stile/internal/lab/document"
)

// renamed are types that the page gives other names: some are taken in browsers, some in Go.
// Names that are private in Go begin with a capital letter on the page.
var renamed = map[string]string{"Document": "Doc", "Error": "Fault", "Event": "Happening", "strip": "Bar", "frame": "Box", "sign": "Mark", "caption": "Words"}

// unlike says in what the types of a document in Go and in TypeScript differ: keys, and
// which may be missing.
func unlike(source string) []string {
	var wrong []string
	seen := map[reflect.Type]bool{}
	var visit func(t reflect.Type)
	visit = func(t reflect.Type) {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Array {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct || seen[t] {
			return
		}
		seen[t] = true
		name := t.Name()
		if other := renamed[name]; other != "" {
			name = other
		} else if name != "" {
			name = strings.ToUpper(name[:1]) + name[1:]
		}
		want := map[string]bool{} // whether it may be missing
		for i := range t.NumField() {
			key, option, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
			want[key] = option == "omitempty"
			visit(t.Field(i).Type)
		}
		if got := keysOf(source, name); !maps.Equal(got, want) {
			wrong = append(wrong, fmt.Sprintf("%s has in Go %v, on the page %v", name, sortedKeys(want), sortedKeys(got)))
		}
	}
	visit(reflect.TypeFor[document.Document]())
	return wrong
}

func sortedKeys(keys map[string]bool) []string {
	var all []string
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if keys[key] {
			key += "?"
		}
		all = append(all, key)
	}
	return all
}

// keysOf returns the keys of an interface of TypeScript, and whether each may be missing.
func keysOf(source, name string) map[string]bool {
	keys := map[string]bool{}
	_, rest, _ := strings.Cut(source, "export interface "+name+" {\n")
	body, _, _ := strings.Cut(rest, "\n}")
	for _, m := range regexp.MustCompile(`(?m)^\t(\w+)(\??):`).FindAllStringSubmatch(body, -1) {
		keys[m[1]] = m[2] == "?"
	}
	return keys
}

// The page reads what the lab writes, key by key; one that is missing on either side
// is found.
func TestMirror(t *testing.T) {
	var source string
	for _, name := range []string{"src/document.ts", "src/layout.ts"} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		source += string(data)
	}
	for _, wrong := range unlike(source) {
		t.Error(wrong)
	}
	for _, planted := range []string{strings.Replace(source, "\ttimers?: Timer[][]", "\ttimer?: Timer[][]", 1), strings.Replace(source, "\twait?:", "\twait:", 1)} {
		if len(unlike(planted)) != 1 {
			t.Errorf("a key that is not the same passes, or is not the only one: %q", unlike(planted))
		}
	}
}
