package runtime_test

func give(_ string, attempt int, params map[string]any) (any, string, *failure) {
	until := 99
	if n, ok := params["until"].(float64); ok {
		until = int(n)
	}
	if code, fails := params["fail"].(string); fails && attempt < until {
		return nil, "", &failure{Code: code}
	}
	at, _ := params["at"].(string)
	return params["value"], at, nil
}
