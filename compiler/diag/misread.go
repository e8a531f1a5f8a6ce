package diag

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Misread is what is wrong with JSON that encoding/json couldn't read into a Go value,
// in the terms of the JSON: nobody who reads it knows the names of our types.
func Misread(err error) error {
	var typed *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &typed) && typed.Field != "":
		return fmt.Errorf("%q can't be a JSON %s", typed.Field, typed.Value)
	case errors.As(err, &typed):
		return fmt.Errorf("it can't be a JSON %s", typed.Value)
	case errors.As(err, &syntax):
		return fmt.Errorf("it isn't JSON: %s", err)
	}
	text := strings.TrimPrefix(err.Error(), "json: ")
	if field, unknown := strings.CutPrefix(text, "unknown field "); unknown {
		return fmt.Errorf("there is no field %s", field)
	}
	return errors.New(text)
}
