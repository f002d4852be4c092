package framework

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64default"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/setplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

func leaf() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"key":    schema.StringAttribute{Required: true, Validators: []validator.String{tasteful{}}},
		"note":   schema.StringAttribute{Optional: true, Computed: true},
		"size":   schema.Int64Attribute{Optional: true, Computed: true, Default: int64default.StaticInt64(1)},
		"secret": schema.StringAttribute{Optional: true, Sensitive: true},
		"hosts":  schema.SetAttribute{Optional: true, ElementType: types.StringType},
	}
}

func leaves() schema.NestedAttributeObject { return schema.NestedAttributeObject{Attributes: leaf()} }

// nested has nested attributes of every kind, one within the other.
func nested() object {
	deep := schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
		"title":  schema.StringAttribute{Optional: true},
		"leaves": schema.SetNestedAttribute{Optional: true, NestedObject: leaves()},
		"only":   schema.SingleNestedAttribute{Optional: true, Attributes: leaf()},
	}}
	return object{name: "nested", schema: schema.Schema{Attributes: map[string]schema.Attribute{
		"id":     id(),
		"name":   name(),
		"single": schema.SingleNestedAttribute{Optional: true, Attributes: leaf()},
		"list":   schema.ListNestedAttribute{Optional: true, NestedObject: leaves()},
		"set":    schema.SetNestedAttribute{Optional: true, NestedObject: leaves()},
		"map":    schema.MapNestedAttribute{Optional: true, NestedObject: leaves()},
		"deep":   schema.ListNestedAttribute{Optional: true, NestedObject: deep},
		"hidden": schema.ListNestedAttribute{Optional: true, Sensitive: true, NestedObject: leaves()},
		"fixed": schema.SetNestedAttribute{
			Optional: true,
			NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
				"key": schema.StringAttribute{
					Required: true, PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()},
				},
				"kind": schema.StringAttribute{Optional: true, Computed: true, Default: stringdefault.StaticString("k")},
			}},
			PlanModifiers: []planmodifier.Set{setplanmodifier.RequiresReplaceIf(
				func(_ context.Context, request planmodifier.SetRequest, response *setplanmodifier.RequiresReplaceIfFuncResponse) {
					response.RequiresReplace = len(request.PlanValue.Elements()) < len(request.StateValue.Elements())
				}, "fewer are others", "fewer are others",
			)},
		},
	}}}
}

// filled has nested attributes that the service fills in.
func filled() object {
	keep := []planmodifier.Set{setplanmodifier.UseStateForUnknown()}
	return object{name: "filled", schema: schema.Schema{Attributes: map[string]schema.Attribute{
		"id":      id(),
		"name":    name(),
		"single":  schema.SingleNestedAttribute{Optional: true, Computed: true, Attributes: leaf()},
		"list":    schema.ListNestedAttribute{Optional: true, Computed: true, NestedObject: leaves()},
		"set":     schema.SetNestedAttribute{Optional: true, Computed: true, NestedObject: leaves(), PlanModifiers: keep},
		"map":     schema.MapNestedAttribute{Optional: true, Computed: true, NestedObject: leaves()},
		"results": schema.ListNestedAttribute{Computed: true, NestedObject: leaves()},
	}}}
}

// custom has strings of a type of its own, for which upper and lower case are the same.
func custom() object {
	return object{name: "custom", schema: schema.Schema{Attributes: map[string]schema.Attribute{
		"id":    id(),
		"name":  name(),
		"label": schema.StringAttribute{Optional: true, CustomType: folded{}},
		"more":  schema.ListAttribute{Optional: true, ElementType: folded{}},
		"made":  schema.StringAttribute{Optional: true, Computed: true, CustomType: folded{}},
	}}}
}

type folded struct{ basetypes.StringType }

type foldedValue struct{ basetypes.StringValue }

func (folded) Equal(other attr.Type) bool           { _, same := other.(folded); return same }
func (folded) String() string                       { return "folded" }
func (folded) ValueType(context.Context) attr.Value { return foldedValue{} }

func (folded) ValueFromString(_ context.Context, value basetypes.StringValue) (basetypes.StringValuable, diag.Diagnostics) {
	return foldedValue{value}, nil
}

func (ty folded) ValueFromTerraform(ctx context.Context, value tftypes.Value) (attr.Value, error) {
	plain, err := ty.StringType.ValueFromTerraform(ctx, value)
	if err != nil {
		return nil, err
	}
	text, ok := plain.(basetypes.StringValue)
	if !ok {
		return nil, fmt.Errorf("a value of type %T", plain)
	}
	return foldedValue{text}, nil
}

func (foldedValue) Type(context.Context) attr.Type { return folded{} }

func (value foldedValue) Equal(other attr.Value) bool {
	same, ok := other.(foldedValue)
	return ok && value.StringValue.Equal(same.StringValue)
}

func (value foldedValue) StringSemanticEquals(_ context.Context, other basetypes.StringValuable) (bool, diag.Diagnostics) {
	same, ok := other.(foldedValue)
	return ok && strings.EqualFold(value.ValueString(), same.ValueString()), nil
}
