package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/msgpack"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// call is a request while it is decoded.
type call struct {
	method string
	name   string
	types  Types
}

// message returns a message as JSON: fields by name, values decoded.
func (call *call) message(message protoreflect.Message, within protoreflect.Name) any {
	if message.Descriptor().Name() == "DynamicValue" {
		return call.value(message, within, 0)
	}
	fields := map[string]any{}
	message.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		name := field.Name()
		switch {
		case field.IsList():
			list := []any{}
			for at := range value.List().Len() {
				list = append(list, call.element(field, value.List().Get(at), at))
			}
			fields[string(name)] = list
		case field.IsMap():
			fields[string(name)] = value.String()
		default:
			fields[string(name)] = call.field(field, value)
		}
		return true
	})
	return fields
}

func (call *call) element(field protoreflect.FieldDescriptor, value protoreflect.Value, at int) any {
	if field.Kind() == protoreflect.MessageKind && field.Message().Name() == "DynamicValue" {
		return call.value(value.Message(), field.Name(), at)
	}
	return call.field(field, value)
}

func (call *call) field(field protoreflect.FieldDescriptor, value protoreflect.Value) any {
	switch field.Kind() {
	case protoreflect.MessageKind:
		return call.message(value.Message(), field.Name())
	case protoreflect.BytesKind:
		return text(value.Bytes())
	case protoreflect.EnumKind:
		return string(field.Enum().Values().ByNumber(value.Enum()).Name())
	default:
		return value.Interface()
	}
}

// text returns bytes as a string. The layout of JSON is left out.
func text(raw []byte) string {
	var compact bytes.Buffer
	if json.Compact(&compact, raw) != nil {
		return string(raw)
	}
	return compact.String()
}

func (call *call) value(message protoreflect.Message, field protoreflect.Name, at int) any {
	fields := message.Descriptor().Fields()
	packed := message.Get(fields.ByName("msgpack")).Bytes()
	if len(packed) == 0 {
		return string(message.Get(fields.ByName("json")).Bytes())
	}
	ty, found := call.typeOf(field, at)
	if !found {
		return fmt.Sprintf("%d bytes of an unknown type", len(packed))
	}
	value, err := msgpack.Unmarshal(packed, ty)
	if err != nil {
		return "cannot be decoded: " + err.Error()
	}
	return plain(value)
}

func (call *call) typeOf(field protoreflect.Name, at int) (cty.Type, bool) {
	key := Resource + call.name
	switch {
	case field == "provider_meta":
		key = Meta
	case strings.Contains(call.method, "DataSource") || strings.Contains(call.method, "DataResource"):
		key = Data + call.name
	case strings.Contains(call.method, "Ephemeral"):
		key = Ephemeral + call.name
	case call.method == "CallFunction":
		if ty, found := call.types[ParameterKey(call.name, at)]; found {
			return ty, true
		}
		key = Variadic + call.name
	case call.name == "":
		key = Provider
	}
	ty, found := call.types[key]
	return ty, found
}

// plain returns a value as JSON. The elements of a set are in a canonical order, and an unknown value
// is a string with its refinements.
func plain(value cty.Value) any {
	ty := value.Type()
	switch {
	case !value.IsKnown():
		return unknown(value)
	case value.IsNull():
		return nil
	case ty == cty.String:
		return value.AsString()
	case ty == cty.Bool:
		return value.True()
	case ty == cty.Number:
		return value.AsBigFloat().Text('g', -1)
	case ty.IsObjectType() || ty.IsMapType():
		fields := map[string]any{}
		for it := value.ElementIterator(); it.Next(); {
			key, element := it.Element()
			fields[key.AsString()] = plain(element)
		}
		return fields
	default:
		elements := []any{}
		for it := value.ElementIterator(); it.Next(); {
			_, element := it.Element()
			elements = append(elements, plain(element))
		}
		return elements
	}
}

func unknown(value cty.Value) string {
	text := "<unknown"
	if value.Type() == cty.DynamicPseudoType {
		return text + ">"
	}
	known := value.Range()
	if known.DefinitelyNotNull() {
		text += " not null"
	}
	ty := value.Type()
	switch {
	case ty == cty.String:
		if prefix := known.StringPrefix(); prefix != "" {
			text += " " + prefix + "..."
		}
	case ty == cty.Number:
		if low, inclusive := known.NumberLowerBound(); low.IsKnown() && low != cty.NegativeInfinity {
			text += fmt.Sprintf(" from %s %t", low.AsBigFloat().Text('g', -1), inclusive)
		}
		if high, inclusive := known.NumberUpperBound(); high.IsKnown() && high != cty.PositiveInfinity {
			text += fmt.Sprintf(" to %s %t", high.AsBigFloat().Text('g', -1), inclusive)
		}
	case ty.IsCollectionType():
		text += fmt.Sprintf(" %d to %d elements", known.LengthLowerBound(), known.LengthUpperBound())
	}
	return text + ">"
}
