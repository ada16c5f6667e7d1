package web

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
)

// kinds are the content types of what is served.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".txt":  "text/plain; charset=utf-8",
}

// files are what is served, by path.
type files map[string]*file

// A file is kept both plain and compressed.
type file struct {
	kind          string
	tag           string // tag of its content
	plain, packed []byte
}

// newFiles reads the bundle, which is part of the program and so cannot be missing.
func newFiles(fsys fs.FS) files {
	all := files{}
	err := fs.WalkDir(fsys, "dist", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		f, err := newFile(name, data)
		all[strings.TrimPrefix(name, "dist")] = f
		return err
	})
	if err != nil {
		panic(err)
	}
	all["/"] = all["/index.html"]
	return all
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

func (all files) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f := all[r.URL.Path]
	switch {
	case f == nil:
		refuse(w, r, http.StatusNotFound, fmt.Errorf("there is no %s: the lab is at /", r.URL.Path))
		return
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		refuse(w, r, http.StatusMethodNotAllowed, fmt.Errorf("%s is read-only: use GET, not %s", r.URL.Path, r.Method))
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
