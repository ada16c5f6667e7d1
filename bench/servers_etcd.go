package main

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

func (f *fleet) etcd(ctx context.Context, dir string) error {
	ports, err := frees(6)
	if err != nil {
		return err
	}
	f.addrs = ports[:3]
	var cluster []string
	for i, name := range replicas[setEtcd] {
		cluster = append(cluster, name+"=https://"+ports[3+i])
	}
	c := f.site.certs
	var all []*process
	for i, name := range replicas[setEtcd] {
		client, peer := "https://"+ports[i], "https://"+ports[3+i]
		p := &process{name: "etcd " + name, path: f.site.etcd, dir: dir, args: []string{
			"--name", name, "--data-dir", filepath.Join(dir, name), "--log-level", "error",
			"--listen-client-urls", client, "--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
			"--initial-cluster", strings.Join(cluster, ","),
			"--trusted-ca-file", c.CA, "--cert-file", c.Cert, "--key-file", c.Key,
			"--peer-trusted-ca-file", c.CA, "--peer-cert-file", c.Cert, "--peer-key-file", c.Key}}
		p.up = func(ctx context.Context) error { _, err := f.etcdLeader(ctx); return err }
		all = append(all, p)
	}
	f.leader = f.etcdLeader
	return f.together(ctx, all)
}

func (f *fleet) etcdLeader(ctx context.Context) (int, error) {
	t, err := f.site.certs.config()
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	for i, a := range f.addrs {
		c, err := clientv3.New(clientv3.Config{Endpoints: []string{a}, TLS: t, Context: ctx, Logger: zap.NewNop()})
		if err != nil {
			return 0, err
		}
		s, err := c.Status(ctx, a)
		c.Close()
		if err == nil && s.Leader == s.Header.MemberId {
			return i, nil
		}
	}
	return 0, errors.New("no server of etcd leads")
}
