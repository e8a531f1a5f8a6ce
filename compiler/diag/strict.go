package diag

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	v1 "github.com/go-json-experiment/json/v1"
)

// ReadStrictly reads JSON that can mean one thing only: it holds every known field at most
// once, no other, and nothing behind it. The error is in the terms of the JSON.
func ReadStrictly(text []byte, into any) error {
	err := json.Unmarshal(text, into, json.RejectUnknownMembers(true), v1.FormatDurationAsNano(true))
	var semantic *json.SemanticError
	var syntactic *jsontext.SyntacticError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jsontext.ErrDuplicateName) && errors.As(err, &syntactic):
		return fmt.Errorf("%q stands there twice", syntactic.JSONPointer.LastToken())
	case errors.Is(err, json.ErrUnknownName) && errors.As(err, &semantic):
		return fmt.Errorf("there is no field %q", semantic.JSONPointer.LastToken())
	case errors.As(err, &semantic) && semantic.JSONPointer == "":
		return errors.New("it must be a JSON object")
	case errors.As(err, &semantic):
		return fmt.Errorf("what stands at %q isn't what is expected there", string(semantic.JSONPointer))
	case errors.As(err, &syntactic) && strings.Contains(syntactic.Error(), "after top-level value"):
		return errors.New("more than one JSON value is in it")
	}
	return errors.New("it isn't valid JSON")
}
