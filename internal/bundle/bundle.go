// Package bundle serves the files of a page, compressed for browsers that take that.
package bundle

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"

	"github.com/stile-lock/stile/internal/origin"
)

// kinds are the content types of what is served.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".txt":  "text/plain; charset=utf-8",
}

// Files are what is served, by path.
type Files struct {
	all  map[string]*file
	root string // path of the page
	page string // its name
}

// A file is kept both plain and compressed.
type file struct {
	kind          string
	tag           string // tag of its content
	plain, packed []byte
}

// New reads the files of a folder, to be served below a path. page is the name of the page. The
// folder is part of the program and so cannot be missing.
func New(fsys fs.FS, folder, root, page string) Files {
	f := Files{map[string]*file{}, root, page}
	all, err := fs.ReadDir(fsys, folder)
	if err != nil {
		panic(err)
	}
	for _, d := range all {
		data, err := fs.ReadFile(fsys, path.Join(folder, d.Name()))
		if err == nil {
			f.all[root+d.Name()], err = newFile(d.Name(), data)
		}
		if err != nil {
			panic(err)
		}
	}
	f.all[root] = f.all[root+"index.html"]
	return f
}

func newFile(name string, data []byte) (*file, error) {
	kind := kinds[path.Ext(name)]
	if kind == "" {
		return nil, fmt.Errorf("%s: unknown file type", name)
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(data); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	return &file{kind, hex.EncodeToString(sum[:12]), data, b.Bytes()}, nil
}

// Weight returns the size of a file in bytes, compressed; 0 if there is none.
func (s Files) Weight(name string) int {
	f := s.all[s.root+name]
	if f == nil {
		return 0
	}
	return len(f.packed)
}

// ServeHTTP implements http.Handler.
func (s Files) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f := s.all[r.URL.Path]
	switch {
	case f == nil:
		refuse(w, http.StatusNotFound, "there is no %s: %s is at %s", r.URL.Path, s.page, s.root)
		return
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		refuse(w, http.StatusMethodNotAllowed, "%s is read-only: use GET, not %s", r.URL.Path, r.Method)
		return
	}
	data, tag := f.plain, `"`+f.tag+`"`
	h := w.Header()
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		data, tag = f.packed, `"`+f.tag+`-gzip"`
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Vary", "Accept-Encoding")
	h.Set("Cache-Control", "no-cache") // cached, but revalidated: another stile has another page
	h.Set("ETag", tag)
	if strings.Contains(r.Header.Get("If-None-Match"), tag) {
		h.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", f.kind)
	h.Set("Content-Length", strconv.Itoa(len(data)))
	if r.Method == http.MethodGet {
		_, _ = w.Write(data) // if it fails, the listener is gone
	}
}

// refuse answers a rejected request.
func refuse(w http.ResponseWriter, status int, format string, args ...any) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	fmt.Fprintf(w, format+"\n", args...)
}

// Isolate tells the browser what a page may use, and to keep the page to itself.
func Isolate(h http.Header, policy string) {
	origin.Isolate(h)
	h.Set("Content-Security-Policy", policy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
}
