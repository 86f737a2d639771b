package control

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
)

// Marshal writes v as one line of JSON. A list that is empty is [], so that a
// script can go through it; HTML is not escaped.
func Marshal(v any) ([]byte, error) {
	p := reflect.New(reflect.TypeOf(v))
	p.Elem().Set(reflect.ValueOf(v))
	fill(p.Elem())
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(p.Interface()); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// fill puts an empty list where there is none, in v and in all below it. Lists
// are copied before they are changed: they belong to whoever made the answer.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type().PkgPath() != reflect.TypeFor[Status]().PkgPath() {
			return // time.Time
		}
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.Slice:
		c := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(c, v)
		v.Set(c)
		if k := v.Type().Elem().Kind(); k == reflect.Struct {
			for i := range v.Len() {
				fill(v.Index(i))
			}
		}
	case reflect.Interface:
		if in := v.Elem(); in.Kind() == reflect.Struct {
			p := reflect.New(in.Type())
			p.Elem().Set(in)
			fill(p.Elem())
			v.Set(p.Elem())
		}
	}
}

// Decode reads the event's data into v. What comes over the socket is JSON;
// in the daemon's own process it is the value itself.
func (e Event) Decode(v any) error {
	raw, ok := e.Data.(json.RawMessage)
	if !ok {
		var err error
		if raw, err = Marshal(e.Data); err != nil {
			return fmt.Errorf("event %d: %w", e.Seq, err)
		}
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return fmt.Errorf("event %d: %w", e.Seq, err)
	}
	return nil
}
