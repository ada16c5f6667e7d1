// Protogen generates the Go code of the API in ../proto, without a network: the compiler
// and its plugins are Go tools of this module. It takes the path of the repository, and that
// of the folder to write to, which may be the same.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/pluginpb"
)

const (
	api    = "stile/v1/stile.proto"
	module = "github.com/stile-lock/stile"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: protogen REPOSITORY TO")
		os.Exit(2)
	}
	if err := generate(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "protogen:", err)
		os.Exit(1)
	}
}

func generate(root, to string) error {
	c := protocompile.Compiler{
		Resolver:       protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: []string{filepath.Join(root, "proto")}}),
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	files, err := c.Compile(context.Background(), api)
	if err != nil {
		return err
	}
	in := &pluginpb.CodeGeneratorRequest{FileToGenerate: []string{api}}
	add(in, files[0], map[string]bool{})
	for _, p := range []struct{ plugin, parameter string }{
		{"protoc-gen-go", "module=" + module},
		{"protoc-gen-connect-go", "module=" + module + ",package_suffix,simple"},
	} {
		in.Parameter = &p.parameter
		if err := run(to, p.plugin, in); err != nil {
			return fmt.Errorf("%s: %w", p.plugin, err)
		}
	}
	return nil
}

// add adds a file, after those that it imports.
func add(in *pluginpb.CodeGeneratorRequest, f protoreflect.FileDescriptor, done map[string]bool) {
	if done[f.Path()] {
		return
	}
	done[f.Path()] = true
	for i := range f.Imports().Len() {
		add(in, f.Imports().Get(i).FileDescriptor, done)
	}
	in.ProtoFile = append(in.ProtoFile, protoutil.ProtoFromFileDescriptor(f))
}

// run runs a plugin and writes what it generates.
func run(to, plugin string, in *pluginpb.CodeGeneratorRequest) error {
	b, err := proto.Marshal(in)
	if err != nil {
		return err
	}
	cmd := exec.Command("go", "tool", plugin)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(b), os.Stderr
	if b, err = cmd.Output(); err != nil {
		return err
	}
	var out pluginpb.CodeGeneratorResponse
	if err := proto.Unmarshal(b, &out); err != nil {
		return err
	}
	if out.Error != nil {
		return errors.New(out.GetError())
	}
	for _, f := range out.File {
		path := filepath.Join(to, filepath.FromSlash(f.GetName()))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(strings.TrimLeft(f.GetContent(), "\n")), 0o666); err != nil {
			return err
		}
	}
	return nil
}
