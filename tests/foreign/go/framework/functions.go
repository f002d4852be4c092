package framework

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// simple is a function made of its definition and its implementation.
type simple struct {
	name       string
	definition function.Definition
	run        func(context.Context, function.RunRequest, *function.RunResponse)
}

func (f simple) Metadata(_ context.Context, _ function.MetadataRequest, response *function.MetadataResponse) {
	response.Name = f.name
}

func (f simple) Definition(_ context.Context, _ function.DefinitionRequest, response *function.DefinitionResponse) {
	response.Definition = f.definition
}

func (f simple) Run(ctx context.Context, request function.RunRequest, response *function.RunResponse) {
	f.run(ctx, request, response)
}

func functions() []function.Function {
	return []function.Function{nothing(), joined(), described(), checked(), swapped()}
}

// nothing has no parameters.
func nothing() function.Function {
	return simple{
		name:       "nothing",
		definition: function.Definition{Return: function.StringReturn{}},
		run: func(ctx context.Context, _ function.RunRequest, response *function.RunResponse) {
			response.Error = response.Result.Set(ctx, "nothing")
		},
	}
}

// joined joins any number of strings.
func joined() function.Function {
	return simple{
		name: "joined",
		definition: function.Definition{
			Parameters:        []function.Parameter{function.StringParameter{Name: "by"}},
			VariadicParameter: function.StringParameter{Name: "parts"},
			Return:            function.StringReturn{},
		},
		run: func(ctx context.Context, request function.RunRequest, response *function.RunResponse) {
			var by string
			var parts []string
			response.Error = request.Arguments.Get(ctx, &by, &parts)
			for at, part := range parts {
				if part == "bad" {
					response.Error = function.NewArgumentFuncError(int64(1+at), "a part must not be \"bad\"")
				}
			}
			response.Error = function.ConcatFuncErrors(response.Error, response.Result.Set(ctx, strings.Join(parts, by)))
		},
	}
}

// described tells about any value, also one that is null or unknown.
func described() function.Function {
	return simple{
		name: "described",
		definition: function.Definition{
			Parameters: []function.Parameter{
				function.DynamicParameter{Name: "value", AllowNullValue: true, AllowUnknownValues: true},
			},
			Return: function.StringReturn{},
		},
		run: func(ctx context.Context, request function.RunRequest, response *function.RunResponse) {
			var value types.Dynamic
			response.Error = request.Arguments.Get(ctx, &value)
			text := "unknown"
			if !value.IsUnknown() && !value.IsUnderlyingValueUnknown() {
				text = fmt.Sprintf("%s: %s", value.UnderlyingValue(), typeOf(ctx, value))
			}
			response.Error = function.ConcatFuncErrors(response.Error, response.Result.Set(ctx, text))
		},
	}
}

func typeOf(ctx context.Context, value types.Dynamic) string {
	if value.IsNull() || value.IsUnderlyingValueNull() {
		return "nothing"
	}
	return value.UnderlyingValue().Type(ctx).String()
}

// checked refuses what its argument asks for.
func checked() function.Function {
	return simple{
		name: "checked",
		definition: function.Definition{
			Parameters: []function.Parameter{
				function.Int64Parameter{Name: "number"},
				function.MapParameter{Name: "options", ElementType: types.StringType, AllowNullValue: true},
			},
			Return:             function.Int64Return{},
			DeprecationMessage: "There is nothing to check.",
		},
		run: func(ctx context.Context, request function.RunRequest, response *function.RunResponse) {
			var number int64
			var options types.Map
			response.Error = request.Arguments.Get(ctx, &number, &options)
			if number < 0 {
				response.Error = function.NewArgumentFuncError(0, "the number must not be negative")
				return
			}
			if number == 0 {
				response.Error = function.NewFuncError("zero cannot be checked.\nTake another number.")
				return
			}
			response.Error = function.ConcatFuncErrors(response.Error, response.Result.Set(ctx, number+1))
		},
	}
}

// swapped exchanges the fields of an object.
func swapped() function.Function {
	pair := map[string]attr.Type{"left": types.StringType, "right": types.StringType}
	return simple{
		name: "swapped",
		definition: function.Definition{
			Parameters: []function.Parameter{function.ObjectParameter{Name: "pair", AttributeTypes: pair}},
			Return:     function.ObjectReturn{AttributeTypes: pair},
		},
		run: func(ctx context.Context, request function.RunRequest, response *function.RunResponse) {
			var value struct {
				Left  types.String `tfsdk:"left"`
				Right types.String `tfsdk:"right"`
			}
			response.Error = request.Arguments.Get(ctx, &value)
			value.Left, value.Right = value.Right, value.Left
			response.Error = function.ConcatFuncErrors(response.Error, response.Result.Set(ctx, value))
		},
	}
}
