// Library is a small service that an OpenAPI document describes. It serves until it is interrupted.
package main

import (
	"log"
	"net/http"

	"github.com/obelus-dev/obelus/examples/library/service"
)

func main() {
	log.Fatal(http.ListenAndServe("127.0.0.1:8424", service.Handler())) // the address in openapi.yaml
}
