module github.com/obelus-dev/obelus

go 1.26
