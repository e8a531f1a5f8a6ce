package simulate_test

// LANGUAGE.md#findings: all of the output hangs on a part of a value, by itself or by way of a call: on
// an item, a key of a map, a field of one variant, something below what may be null, a gate.
func init() {
	faultClasses = append(faultClasses, faultClass{"an output that comes to nothing", func(k *sketch) {
		closed := func(kind, field string) object {
			s := record(object{"kind": object{"const": kind}, field: typed("string")})
			s["additionalProperties"] = false
			return s
		}
		var ref string
		switch k.IntN(6) {
		case 0:
			from := list(typed("string"))
			if !k.faulty {
				from["minItems"] = 2
			}
			ref = k.fetched(from) + among(k, "[0]", "[1]")
		case 1:
			ref = k.fetched(object{"type": "object", "additionalProperties": typed("string")}) + ".de" + or(k, " || \"none\"", "")
		case 2:
			from := k.fetched(object{"oneOf": []any{closed("mail", "to"), closed("call", "number")}})
			ref = from + ".to" + or(k, " || "+from+".number", "")
		case 3:
			ref = k.fetched(record(object{"o": object{"anyOf": []any{record(object{"v": typed("string")}), or(k, typed("boolean"), typed("null"))}}}))
			ref += or(k, ".o != null ? \"a\" : \"b\"", ".o.v")
			if !k.faulty {
				ref = "†(" + ref + ")"
			}
		case 4:
			ref = k.fetched(or(k, typed("integer"), typed("integer", "null"))) + " && \"text\""
		default:
			k.doc["inputSchema"] = record(object{"q": or(k, typed("string"), typed("string", "null")), "b": typed("boolean")})
			k.doc["input"] = object{"q": "text", "b": true}
			ref = "†input.b && †input.q"
		}
		if k.IntN(2) == 0 {
			path := k.name()
			k.call(k.tool(object{"value": object{}}, typed("string")), "value", ref, "_outputPath", path)
			ref = "†state." + path
		}
		k.doc["output"] = object{"result": ref}
	}})
}
