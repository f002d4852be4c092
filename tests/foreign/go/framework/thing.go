package framework

import (
	"context"
	"math/big"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64default"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/listdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/mapdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/mapplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/numberdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/objectdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

func id() schema.Attribute {
	return schema.StringAttribute{
		Computed:      true,
		PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
	}
}

func name() schema.Attribute {
	return schema.StringAttribute{
		Required:      true,
		PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()},
	}
}

func point() map[string]attr.Type {
	return map[string]attr.Type{"x": types.Int64Type, "y": types.Float64Type}
}

// thing has attributes of every type that both protocols have, and defaults of most.
func thing() object {
	return object{name: "thing", schema: schema.Schema{
		Version: 1,
		Attributes: map[string]schema.Attribute{
			"id":      id(),
			"name":    name(),
			"text":    schema.StringAttribute{Optional: true, Validators: []validator.String{tasteful{}}},
			"kind":    schema.StringAttribute{Optional: true, Computed: true, Default: stringdefault.StaticString("usual")},
			"zone":    schema.StringAttribute{Optional: true, Computed: true},
			"serial":  schema.Int64Attribute{Computed: true},
			"small":   schema.Int32Attribute{Optional: true},
			"size":    schema.Int64Attribute{Optional: true, Computed: true, Default: int64default.StaticInt64(3)},
			"single":  schema.Float32Attribute{Optional: true},
			"ratio":   schema.Float64Attribute{Optional: true},
			"on":      schema.BoolAttribute{Optional: true, Computed: true, Default: booldefault.StaticBool(true)},
			"secret":  schema.StringAttribute{Computed: true, Sensitive: true},
			"token":   schema.StringAttribute{Optional: true, Sensitive: true},
			"old":     schema.StringAttribute{Optional: true, DeprecationMessage: "Use text instead."},
			"words":   schema.ListAttribute{Optional: true, ElementType: types.StringType},
			"letters": schema.SetAttribute{Optional: true, ElementType: types.StringType},
			"tags":    schema.MapAttribute{Optional: true, ElementType: types.StringType},
			"any":     schema.DynamicAttribute{Optional: true},
			"made":    schema.DynamicAttribute{Computed: true},
			"point":   schema.ObjectAttribute{Optional: true, AttributeTypes: point()},
			"points":  schema.ListAttribute{Optional: true, ElementType: types.ObjectType{AttrTypes: point()}},
			"large": schema.NumberAttribute{
				Optional: true, Computed: true, Default: numberdefault.StaticBigFloat(big.NewFloat(1.5)),
			},
			"defaults": schema.ListAttribute{
				Optional: true, Computed: true, ElementType: types.StringType,
				Default: listdefault.StaticValue(types.ListValueMust(types.StringType, []attr.Value{
					types.StringValue("a"), types.StringValue("b"),
				})),
			},
			"labels": schema.MapAttribute{
				Optional: true, Computed: true, ElementType: types.StringType,
				Default:       mapdefault.StaticValue(types.MapValueMust(types.StringType, map[string]attr.Value{})),
				PlanModifiers: []planmodifier.Map{mapplanmodifier.RequiresReplaceIfConfigured()},
			},
			"corner": schema.ObjectAttribute{
				Optional: true, Computed: true, AttributeTypes: point(),
				Default: objectdefault.StaticValue(types.ObjectValueMust(point(), map[string]attr.Value{
					"x": types.Int64Value(0), "y": types.Float64Null(),
				})),
			},
		},
	}}
}

// blocked has blocks of every kind, one within the other.
func blocked() object {
	part := schema.NestedBlockObject{
		Attributes: map[string]schema.Attribute{
			"size":  schema.Int64Attribute{Optional: true},
			"label": schema.StringAttribute{Optional: true, Computed: true},
			"kind": schema.StringAttribute{
				Optional: true, PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()},
			},
		},
		Blocks: map[string]schema.Block{
			"leaf": schema.SetNestedBlock{NestedObject: schema.NestedBlockObject{
				Attributes: map[string]schema.Attribute{
					"key":    schema.StringAttribute{Required: true},
					"values": schema.ListAttribute{Optional: true, ElementType: types.StringType},
				},
			}},
		},
	}
	return object{name: "blocked", schema: schema.Schema{
		Attributes: map[string]schema.Attribute{"id": id(), "name": name()},
		Blocks: map[string]schema.Block{
			"part":   schema.ListNestedBlock{NestedObject: part},
			"member": schema.SetNestedBlock{NestedObject: part},
			"single": schema.SingleNestedBlock{
				Attributes: map[string]schema.Attribute{
					"on":   schema.BoolAttribute{Optional: true, Computed: true},
					"text": schema.StringAttribute{Optional: true, Validators: []validator.String{tasteful{}}},
				},
			},
		},
	}}
}

// tasteful refuses what is bitter and warns of what is sour.
type tasteful struct{}

func (tasteful) Description(context.Context) string         { return "not bitter" }
func (tasteful) MarkdownDescription(context.Context) string { return "not *bitter*" }

func (tasteful) ValidateString(_ context.Context, request validator.StringRequest, response *validator.StringResponse) {
	taste(&response.Diagnostics, request.Path, request.ConfigValue.ValueString())
}

func taste(diagnostics *diag.Diagnostics, place path.Path, text string) {
	if strings.Contains(text, "bitter") {
		diagnostics.AddAttributeError(place, "Bitter is not allowed",
			"A taste is sweet, salty or sour. The one that is given here would be thrown away by everybody who has to eat it.")
	}
	if strings.Contains(text, "sour") {
		diagnostics.AddAttributeWarning(place, "Sour is not for everybody", "Consider\n\n  \"sweet\"\n\ninstead.")
	}
}
