package framework

import (
	"context"
	"fmt"
	"os"
	"strconv"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// planned changes its plans, and counts its changes in private data.
func planned() object {
	with := func(r plain) resource.Resource { return planning{r} }
	return object{name: "planned", with: with, schema: schema.Schema{Attributes: map[string]schema.Attribute{
		"id":     id(),
		"name":   name(),
		"size":   schema.Int64Attribute{Optional: true},
		"double": schema.Int64Attribute{Computed: true},
		"tags":   schema.MapAttribute{Optional: true, ElementType: types.StringType},
		"all":    schema.MapAttribute{Computed: true, ElementType: types.StringType},
	}}}
}

type planning struct{ plain }

func (r planning) ModifyPlan(ctx context.Context, request resource.ModifyPlanRequest, response *resource.ModifyPlanResponse) {
	if request.Plan.Raw.IsNull() {
		response.Diagnostics.AddWarning("Nothing is left", "The service keeps no copy of what is removed.")
		return
	}
	var before, size types.Int64
	var tags types.Map
	response.Diagnostics.Append(request.Plan.GetAttribute(ctx, path.Root("size"), &size)...)
	response.Diagnostics.Append(request.Plan.GetAttribute(ctx, path.Root("tags"), &tags)...)
	if !request.State.Raw.IsNull() {
		response.Diagnostics.Append(request.State.GetAttribute(ctx, path.Root("size"), &before)...)
	}
	if size.ValueInt64() > 100 {
		response.Diagnostics.AddAttributeError(path.Root("size"), "Size is too large", "The service has 100 at most.")
		return
	}
	if size.ValueInt64() < before.ValueInt64() {
		response.RequiresReplace.Append(path.Root("size"))
	}
	double := types.Int64Value(2 * size.ValueInt64())
	if size.IsUnknown() {
		double = types.Int64Unknown()
	}
	response.Diagnostics.Append(response.Plan.SetAttribute(ctx, path.Root("double"), double)...)
	if tags.IsUnknown() {
		return
	}
	all := map[string]types.String{"owner": types.StringValue("team")}
	for key, value := range tags.Elements() {
		if text, ok := value.(types.String); ok {
			all[key] = text
		}
		if key == "odd" {
			place := path.Root("tags").AtMapKey(key)
			response.Diagnostics.AddAttributeWarning(place, "Odd tag", fmt.Sprintf("Nobody looks at %q.", key))
		}
	}
	response.Diagnostics.Append(response.Plan.SetAttribute(ctx, path.Root("all"), all)...)
	count, said := request.Private.GetKey(ctx, "count")
	response.Diagnostics.Append(said...)
	number, _ := strconv.Atoi(string(count))
	response.Diagnostics.Append(response.Private.SetKey(ctx, "count", []byte(strconv.Itoa(number+1)))...)
}

// versioned has the schema version that TEST_VERSION names.
func versioned() object {
	version, _ := strconv.Atoi(os.Getenv("TEST_VERSION"))
	attributes := map[string]schema.Attribute{"id": id(), "name": name()}
	attributes["size"] = schema.StringAttribute{Optional: true}
	if version > 0 {
		attributes["size"] = schema.Int64Attribute{Optional: true}
	}
	with := func(r plain) resource.Resource { return upgrading{r} }
	return object{name: "versioned", with: with, schema: schema.Schema{Version: int64(version), Attributes: attributes}}
}

type upgrading struct{ plain }

func (r upgrading) UpgradeState(context.Context) map[int64]resource.StateUpgrader {
	if r.schema.Version == 0 {
		return nil
	}
	former := schema.Schema{Attributes: map[string]schema.Attribute{
		"id": id(), "name": name(), "size": schema.StringAttribute{Optional: true},
	}}
	upgrade := func(ctx context.Context, request resource.UpgradeStateRequest, response *resource.UpgradeStateResponse) {
		size := types.Int64Null()
		if before := text(ctx, request.State.GetAttribute, "size"); before != "" {
			number, err := strconv.ParseInt(before, 10, 64)
			if err != nil {
				response.Diagnostics.AddAttributeError(path.Root("size"), "Size is not a number", err.Error())
				return
			}
			size = types.Int64Value(number)
		}
		for _, name := range []string{"id", "name"} {
			value := text(ctx, request.State.GetAttribute, name)
			response.Diagnostics.Append(response.State.SetAttribute(ctx, path.Root(name), value)...)
		}
		response.Diagnostics.Append(response.State.SetAttribute(ctx, path.Root("size"), size)...)
	}
	return map[int64]resource.StateUpgrader{0: {PriorSchema: &former, StateUpgrader: upgrade}}
}

// moved takes over objects of the type thing.
func moved() object {
	with := func(r plain) resource.Resource { return moving{r} }
	return object{name: "moved", with: with, schema: schema.Schema{Attributes: map[string]schema.Attribute{
		"id":   id(),
		"name": name(),
		"from": schema.StringAttribute{Optional: true, Computed: true},
	}}}
}

type moving struct{ plain }

func (r moving) MoveState(context.Context) []resource.StateMover {
	move := func(ctx context.Context, request resource.MoveStateRequest, response *resource.MoveStateResponse) {
		if request.SourceRawState == nil {
			return
		}
		ty := tftypes.Object{AttributeTypes: map[string]tftypes.Type{"id": tftypes.String, "name": tftypes.String}}
		options := tfprotov6Options()
		raw, err := request.SourceRawState.UnmarshalWithOpts(ty, options)
		if err != nil {
			response.Diagnostics.AddError("Cannot be moved", err.Error())
			return
		}
		var fields map[string]tftypes.Value
		if err := raw.As(&fields); err != nil {
			response.Diagnostics.AddError("Cannot be moved", err.Error())
			return
		}
		for name, field := range fields {
			var value *string
			_ = field.As(&value)
			response.Diagnostics.Append(response.TargetState.SetAttribute(ctx, path.Root(name), value)...)
		}
		response.Diagnostics.Append(response.TargetState.SetAttribute(ctx, path.Root("from"), request.SourceTypeName)...)
	}
	return []resource.StateMover{{StateMover: move}}
}

// identified has an identity.
func identified() object {
	with := func(r plain) resource.Resource { return identifying{r} }
	return object{name: "identified", with: with, schema: schema.Schema{Attributes: map[string]schema.Attribute{
		"id":   id(),
		"name": name(),
		"text": schema.StringAttribute{Optional: true},
	}}}
}

type identifying struct{ plain }

func (r identifying) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, response *resource.IdentitySchemaResponse) {
	response.IdentitySchema = identityschema.Schema{Attributes: map[string]identityschema.Attribute{
		"id": identityschema.StringAttribute{RequiredForImport: true},
	}}
}

func (r identifying) Create(ctx context.Context, request resource.CreateRequest, response *resource.CreateResponse) {
	r.plain.Create(ctx, request, response)
	identify(ctx, response.State, response.Identity)
}

func (r identifying) Read(ctx context.Context, request resource.ReadRequest, response *resource.ReadResponse) {
	r.plain.Read(ctx, request, response)
	identify(ctx, response.State, response.Identity)
}

func identify(ctx context.Context, state tfsdk.State, identity *tfsdk.ResourceIdentity) {
	if identity != nil && !state.Raw.IsNull() {
		identity.SetAttribute(ctx, path.Root("id"), text(ctx, state.GetAttribute, "id"))
	}
}

// secret has write-only attributes.
func secret() object {
	with := func(r plain) resource.Resource { return keeping{r} }
	return object{name: "secret", with: with, schema: schema.Schema{Attributes: map[string]schema.Attribute{
		"id":   id(),
		"name": name(),
		"password": schema.StringAttribute{
			Optional: true, WriteOnly: true, Validators: []validator.String{tasteful{}},
		},
		"keys":    schema.MapAttribute{Optional: true, WriteOnly: true, ElementType: types.StringType},
		"version": schema.Int64Attribute{Optional: true},
		"length":  schema.Int64Attribute{Computed: true},
	}}}
}

type keeping struct{ plain }

func (r keeping) Create(ctx context.Context, request resource.CreateRequest, response *resource.CreateResponse) {
	r.plain.Create(ctx, request, response)
	length := int64(len(text(ctx, request.Config.GetAttribute, "password")))
	response.Diagnostics.Append(response.State.SetAttribute(ctx, path.Root("length"), length)...)
}

func (r keeping) ValidateConfig(ctx context.Context, request resource.ValidateConfigRequest, response *resource.ValidateConfigResponse) {
	if text(ctx, request.Config.GetAttribute, "name") == "refused" {
		response.Diagnostics.AddError("Name is refused", "Nothing is called so.")
	}
}
