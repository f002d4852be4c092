package framework

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"formwork.test/foreign/world"
)

// object is a resource type whose objects are in the world. Everything that is unknown in a plan is
// computed from its type.
type object struct {
	name   string
	schema schema.Schema
	// with makes a resource with more methods out of the plain one.
	with func(plain) resource.Resource
}

func (o object) resource() resource.Resource {
	if o.with != nil {
		return o.with(plain{o})
	}
	return plain{o}
}

type plain struct{ object }

func (r plain) Metadata(_ context.Context, request resource.MetadataRequest, response *resource.MetadataResponse) {
	response.TypeName = request.ProviderTypeName + "_" + r.name
}

func (r plain) Schema(_ context.Context, _ resource.SchemaRequest, response *resource.SchemaResponse) {
	response.Schema = r.schema
}

func (r plain) Create(ctx context.Context, request resource.CreateRequest, response *resource.CreateResponse) {
	name := text(ctx, request.Plan.GetAttribute, "name")
	moment := world.Fault("create " + name)
	if moment == world.Before {
		fail(&response.Diagnostics, "create", name)
		return
	}
	id, err := world.Make(name, world.Object{})
	if err != nil {
		response.Diagnostics.AddError("Cannot create", err.Error())
		return
	}
	response.State.Raw = compute(request.Plan.Raw)
	response.Diagnostics.Append(response.State.SetAttribute(ctx, path.Root("id"), id)...)
	response.Diagnostics.Append(response.Private.SetKey(ctx, "made", []byte(`{"by":"create"}`))...)
	if moment == world.After {
		fail(&response.Diagnostics, "create", name)
	}
}

func (r plain) Read(ctx context.Context, request resource.ReadRequest, response *resource.ReadResponse) {
	id := text(ctx, request.State.GetAttribute, "id")
	if world.Fault("read "+id) != world.Never {
		fail(&response.Diagnostics, "read", id)
		return
	}
	found, err := world.Read(id)
	if err != nil {
		response.Diagnostics.AddError("Cannot read", err.Error())
		return
	}
	if found == nil {
		response.State.RemoveResource(ctx)
		return
	}
	raw, err := overlay(response.State, found)
	if err != nil {
		response.Diagnostics.AddError("Cannot read", err.Error())
		return
	}
	response.State.Raw = raw
}

func (r plain) Update(ctx context.Context, request resource.UpdateRequest, response *resource.UpdateResponse) {
	name := text(ctx, request.Plan.GetAttribute, "name")
	moment := world.Fault("update " + name)
	if moment == world.Before {
		fail(&response.Diagnostics, "update", name)
		return
	}
	id := text(ctx, request.State.GetAttribute, "id")
	if err := world.Store(id, world.Object{}); err != nil {
		response.Diagnostics.AddError("Cannot update", err.Error())
		return
	}
	response.State.Raw = compute(request.Plan.Raw)
	if moment == world.After {
		fail(&response.Diagnostics, "update", name)
	}
}

func (r plain) Delete(ctx context.Context, request resource.DeleteRequest, response *resource.DeleteResponse) {
	name := text(ctx, request.State.GetAttribute, "name")
	if world.Fault("delete "+name) != world.Never {
		fail(&response.Diagnostics, "delete", name)
		return
	}
	if err := world.Remove(text(ctx, request.State.GetAttribute, "id")); err != nil {
		response.Diagnostics.AddError("Cannot delete", err.Error())
	}
}

func (r plain) ImportState(ctx context.Context, request resource.ImportStateRequest, response *resource.ImportStateResponse) {
	if request.ID == "" {
		response.Diagnostics.AddError("No ID", "An object is imported by its ID.")
		return
	}
	resource.ImportStatePassthroughID(ctx, path.Root("id"), request, response)
}

func fail(diagnostics *diag.Diagnostics, call, name string) {
	detail := fmt.Sprintf("The service is not available.\n\nIt was asked to %s %q.", call, name)
	diagnostics.AddAttributeError(path.Root("name"), "Cannot "+call, detail)
}

// text returns a string attribute by the getter of a state, a plan or a configuration.
func text(ctx context.Context, get func(context.Context, path.Path, any) diag.Diagnostics, name string) string {
	var value types.String
	get(ctx, path.Root(name), &value)
	return value.ValueString()
}

// compute replaces everything unknown.
func compute(value tftypes.Value) tftypes.Value {
	computed, err := tftypes.Transform(value, func(_ *tftypes.AttributePath, value tftypes.Value) (tftypes.Value, error) {
		if value.IsKnown() {
			return value, nil
		}
		return computedOf(value.Type()), nil
	})
	if err != nil {
		panic(err)
	}
	return computed
}

func computedOf(ty tftypes.Type) tftypes.Value {
	switch {
	case ty.Is(tftypes.String):
		return tftypes.NewValue(ty, "computed")
	case ty.Is(tftypes.Number):
		return tftypes.NewValue(ty, 7)
	case ty.Is(tftypes.Bool):
		return tftypes.NewValue(ty, true)
	case ty.Is(tftypes.DynamicPseudoType):
		return tftypes.NewValue(tftypes.String, "computed")
	}
	switch ty := ty.(type) {
	case tftypes.Object:
		fields := map[string]tftypes.Value{}
		for name, field := range ty.AttributeTypes {
			fields[name] = computedOf(field)
		}
		return tftypes.NewValue(ty, fields)
	case tftypes.Map:
		return tftypes.NewValue(ty, map[string]tftypes.Value{"made": computedOf(ty.ElementType)})
	case tftypes.List:
		return tftypes.NewValue(ty, []tftypes.Value{computedOf(ty.ElementType)})
	case tftypes.Set:
		return tftypes.NewValue(ty, []tftypes.Value{computedOf(ty.ElementType)})
	}
	panic("a type of another kind: " + ty.String())
}

// overlay puts what was changed in the world into a state.
func overlay(state tfsdk.State, found world.Object) (tftypes.Value, error) {
	ty, ok := state.Schema.Type().TerraformType(context.Background()).(tftypes.Object)
	if !ok || len(found) == 0 {
		return state.Raw, nil
	}
	fields := map[string]tftypes.Value{}
	if err := state.Raw.As(&fields); err != nil {
		return state.Raw, err
	}
	for name, value := range found {
		text, err := json.Marshal(value)
		if err != nil {
			return state.Raw, err
		}
		field, known := ty.AttributeTypes[name]
		if !known {
			return state.Raw, fmt.Errorf("there is no attribute %q", name)
		}
		if field.Is(tftypes.DynamicPseudoType) {
			fields[name] = tftypes.NewValue(tftypes.String, fmt.Sprint(value))
			continue
		}
		read, err := tftypes.ValueFromJSON(text, field)
		if err != nil {
			return state.Raw, err
		}
		fields[name] = read
	}
	return tftypes.NewValue(ty, fields), nil
}
