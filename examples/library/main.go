// Library is a small service that an OpenAPI document describes. It serves while a command runs:
//
//	go run ./examples/library go run ./cmd/obelus run examples/library/borrow.yaml --trust
//
// Without a command, it serves until it is interrupted.
package main

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"

	"github.com/obelus-dev/obelus/examples/library/service"
)

// address is the service's address in openapi.yaml.
const address = "127.0.0.1:8424"

func main() {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		fmt.Fprintln(os.Stderr, "library:", err)
		os.Exit(1)
	}
	server := &http.Server{Handler: service.Handler()}
	if len(os.Args) < 2 {
		fmt.Println("library: serving on", address)
		fmt.Fprintln(os.Stderr, "library:", server.Serve(listener))
		os.Exit(1)
	}
	go func() { _ = server.Serve(listener) }()
	command := exec.Command(os.Args[1], os.Args[2:]...)
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = command.Run()
	var ended *exec.ExitError
	switch {
	case errors.As(err, &ended):
		os.Exit(ended.ExitCode())
	case err != nil:
		fmt.Fprintln(os.Stderr, "library:", err)
		os.Exit(1)
	}
}
