package naming

import "fmt"

// IDs are ids of one sort that come one after the other from outside a document,
// and that a reader must be able to see and to tell apart. The zero value
// holds none. It is not safe for concurrent use.
type IDs struct{ drawn map[string]string } // by skeleton

// Add takes a further id; the error says why a reader would be at a loss with it.
func (ids *IDs) Add(id string) error {
	if r, _, what, bad := BadCharacter(id); bad {
		return fmt.Errorf("the id \"%s\" holds U+%04X, %s; remove it: a reader can't see it", id, r, what)
	}
	skeleton := Skeleton(id)
	other, taken := ids.drawn[skeleton]
	switch {
	case taken && other == id:
		return fmt.Errorf("the id \"%s\" is there twice", id)
	case taken:
		return fmt.Errorf("two ids look alike: %q and %q; choose names that differ to the eye", Spelled(id),
			Spelled(other))
	}
	if ids.drawn == nil {
		ids.drawn = map[string]string{}
	}
	ids.drawn[skeleton] = id
	return nil
}
