package diag

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// Misread is what is wrong with JSON that encoding/json couldn't read into a Go value,
// in the terms of the JSON: nobody who reads it knows the names of our types.
func Misread(err error) error {
	var typed *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &typed) && typed.Field != "":
		return fmt.Errorf("%q is a JSON %s where %s belongs", typed.Field, typed.Value, jsonOf(typed.Type))
	case errors.As(err, &typed):
		return fmt.Errorf("it is a JSON %s where %s belongs", typed.Value, jsonOf(typed.Type))
	case errors.As(err, &syntax):
		return fmt.Errorf("it isn't JSON: %s", err)
	}
	text := strings.TrimPrefix(err.Error(), "json: ")
	if field, unknown := strings.CutPrefix(text, "unknown field "); unknown {
		return fmt.Errorf("there is no field %s", field)
	}
	return errors.New(text)
}

// jsonOf is what a Go type is in JSON.
func jsonOf(t reflect.Type) string {
	if reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return "a string"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "an integer within bounds"
	case reflect.Float32, reflect.Float64:
		return "a number"
	}
	return "something else"
}
