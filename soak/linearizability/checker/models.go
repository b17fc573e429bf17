package main

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

type input struct {
	Do    string `json:"do"`
	Value string `json:"value"`
}

type output struct {
	// What the server answered: ok, or a refusal by name.
	Status string   `json:"status"`
	Values []string `json:"values"`
	// No answer came. Such an operation takes effect where it stands in the order, and at the end that is the same as never.
	IsUnknown bool `json:"-"`
}

// step answers whether an operation with this answer is possible in a state, and the state after it.
type step func(state string, in input, out output) (bool, string)

var models = map[string]porcupine.Model{
	"sign-up": modelOf("", signUp),
	"token":   modelOf("live", token),
	"grant":   modelOf("no", grant),
	"post":    modelOf("", post),
}

func modelOf(initial string, step step) porcupine.Model {
	return porcupine.Model{
		Init: func() interface{} { return initial },
		Step: func(state, in, out interface{}) (bool, interface{}) {
			return step(state.(string), in.(input), out.(output))
		},
		DescribeOperation: func(in, out interface{}) string {
			answer := out.(output)
			if answer.IsUnknown {
				return fmt.Sprintf("%s(%s): no answer", in.(input).Do, in.(input).Value)
			}
			return fmt.Sprintf("%s(%s): %s %v", in.(input).Do, in.(input).Value, answer.Status, answer.Values)
		},
	}
}

// The state is the password of the account; empty without an account.
func signUp(state string, in input, out output) (bool, string) {
	switch {
	case in.Do == "sign up" && out.IsUnknown:
		if state == "" {
			return true, in.Value
		}
		return true, state
	case in.Do == "sign up" && out.Status == "ok":
		return state == "", in.Value
	case in.Do == "sign up":
		return state != "", state
	case out.IsUnknown:
		return true, state
	default:
		return (out.Status == "ok") == (state == in.Value), state
	}
}

// The state of a session or an API key is live or ended. Of several who end it at the same time, each may be told that it is ended.
func token(state string, in input, out output) (bool, string) {
	switch {
	case in.Do == "end" && (out.IsUnknown || out.Status == "ok"):
		return true, "ended"
	case in.Do == "end":
		return state == "ended", state
	case out.IsUnknown:
		return true, state
	default:
		return (out.Status == "ok") == (state == "live"), state
	}
}

// The state says whether the person may read the channel.
func grant(state string, in input, out output) (bool, string) {
	switch {
	case in.Do == "set":
		return true, in.Value
	case out.IsUnknown:
		return true, state
	default:
		return (out.Status == "ok") == (state == "yes"), state
	}
}

const stored = "stored, id not known"

// The state is the id of the one message of a temp_id; empty without one.
func post(state string, in input, out output) (bool, string) {
	switch {
	case in.Do == "post" && out.IsUnknown:
		if state == "" {
			return true, stored
		}
		return true, state
	case in.Do == "post":
		id := out.Values[0]
		return state == "" || state == stored || state == id, id
	case out.IsUnknown:
		return true, state
	case len(out.Values) == 0:
		return state == "", state
	case len(out.Values) == 1:
		id := out.Values[0]
		return state == stored || state == id, id
	default:
		return false, state
	}
}
