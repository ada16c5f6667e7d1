module github.com/stile-lock/stile

go 1.26
