package simulate_test

// More classes of faults: of what comes of items that lack something, and of what a
// delegate isn't handed.
func init() {
	faultClasses = append(faultClasses, []faultClass{
		{"an item that lacks what is read of it", func(k *sketch) {
			kind, v, read := among(k, "integer", "string"), k.name(), "†item.y"
			of, brought := record(object{"y": typed(kind), "n": typed("integer")}), k.IntN(2) == 0
			switch {
			case k.faulty && brought:
				of["required"] = []any{"n"}
			case k.faulty && k.IntN(2) == 0:
				of = object{"type": "object", "additionalProperties": typed(kind)}
			case !brought:
				of, read = record(object{"x": of}), "†item.x.y"
				if k.faulty {
					of["properties"].(object)["x"] = object{"anyOf": []any{typed("null"), of["properties"].(object)["x"]}}
				}
			}
			var ref string
			if brought {
				k.doc["inputSchema"], ref = record(object{v: list(of)}), "†input."+v
			} else {
				ref = k.fetched(list(of))
			}
			k.call(k.tool(object{"value": typed(kind)}, typed("integer")), "_each", ref, "value", read, "_outputPath", "results")
			k.show("†state.results", list(typed("integer")))
		}},
		{"a state that a delegate isn't handed", func(k *sketch) {
			of, name := object{"tools": object{}, "stateSchema": object{"type": "object", "properties": object{"style": typed("string")}}}, k.name()+".json"
			if k.IntN(2) == 0 {
				of["stateSchema"].(object)["required"] = []any{"style"}
			}
			of["tools"].(object)["tell"] = tool(object{"text": typed("string")}, typed("string"))
			of["calls"] = []any{object{"_tool": "tell", "text": "†state.style", "_outputPath": "end"}}
			of["output"] = "†state.end"
			k.files[name] = []byte(inJSON(of))
			k.doc["tools"].(object)["part"] = object{"type": "object", "properties": object{}, "_delegate": name}
			k.doc["state"] = object{"style": "short", "tone": "dry"}
			call := k.call("part", "_outputPath", "result")
			switch {
			case !k.faulty:
				call["_scopes"] = []any{"†state.style"}
			case k.IntN(2) == 0:
				call["_scopes"] = []any{"†state.tone"}
			}
			k.show("†state.result", typed("string"))
		}},
	}...)
}
