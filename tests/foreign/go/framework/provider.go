// Package framework is a provider on the plugin framework, with one type for each group of its features.
package framework

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/metaschema"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

type foreign struct {
	prefix string
	// isFive leaves out what protocol 5 does not have.
	isFive bool
	// isPart leaves the provider only the arguments that every part of a combined provider has.
	isPart bool
}

// Provider returns the provider for protocol 6. The names of its types begin with the prefix.
func Provider(prefix string) provider.Provider { return &foreign{prefix: prefix} }

// Part returns the provider as a part of a combined one.
func Part(prefix string) provider.Provider { return &foreign{prefix: prefix, isPart: true} }

// PartFive returns the part of the provider that protocol 5 can carry.
func PartFive(prefix string) provider.Provider {
	return &foreign{prefix: prefix, isPart: true, isFive: true}
}

func (p *foreign) Metadata(_ context.Context, _ provider.MetadataRequest, response *provider.MetadataResponse) {
	response.TypeName = p.prefix
}

func (p *foreign) Schema(_ context.Context, _ provider.SchemaRequest, response *provider.SchemaResponse) {
	if p.isPart {
		response.Schema = schema.Schema{Attributes: map[string]schema.Attribute{
			"region": schema.StringAttribute{Optional: true},
		}}
		return
	}
	response.Schema = schema.Schema{Attributes: map[string]schema.Attribute{
		"region": schema.StringAttribute{Optional: true},
		"token":  schema.StringAttribute{Optional: true, Sensitive: true},
		"say":    schema.StringAttribute{Optional: true},
		"refuse": schema.ListAttribute{Optional: true, ElementType: types.StringType},
		"old":    schema.BoolAttribute{Optional: true, DeprecationMessage: "Use region instead."},
	}}
	response.Schema.Attributes["endpoints"] = schema.MapNestedAttribute{
		Optional: true,
		NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
			"url":   schema.StringAttribute{Required: true},
			"ports": schema.SetAttribute{Optional: true, ElementType: types.Int64Type},
		}},
	}
}

func (p *foreign) MetaSchema(_ context.Context, _ provider.MetaSchemaRequest, response *provider.MetaSchemaResponse) {
	if p.isPart {
		return
	}
	response.Schema = metaschema.Schema{Attributes: map[string]metaschema.Attribute{
		"module": metaschema.StringAttribute{Optional: true},
	}}
}

func (p *foreign) Configure(ctx context.Context, request provider.ConfigureRequest, response *provider.ConfigureResponse) {
	if p.isPart {
		return
	}
	var say types.String
	var refuse types.List
	response.Diagnostics.Append(request.Config.GetAttribute(ctx, path.Root("say"), &say)...)
	response.Diagnostics.Append(request.Config.GetAttribute(ctx, path.Root("refuse"), &refuse)...)
	if text := say.ValueString(); text != "" {
		response.Diagnostics.AddAttributeWarning(path.Root("say"), "Configured with a note", text)
	}
	for at := range refuse.Elements() {
		place := path.Root("refuse").AtListIndex(at)
		response.Diagnostics.AddAttributeError(place, "Configuration refused", "The service refuses it.")
	}
}

func (p *foreign) Resources(context.Context) []func() resource.Resource {
	objects := []object{thing(), blocked(), planned(), versioned(), moved(), identified(), secret(), validated()}
	if !p.isFive {
		objects = append(objects, nested(), filled(), custom())
	}
	var all []func() resource.Resource
	for _, one := range objects {
		all = append(all, func() resource.Resource { return one.resource() })
	}
	return all
}

func (p *foreign) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{
		func() datasource.DataSource { return echo{} },
		func() datasource.DataSource { return validatedData{} },
	}
}

func (p *foreign) EphemeralResources(context.Context) []func() ephemeral.EphemeralResource {
	return []func() ephemeral.EphemeralResource{
		func() ephemeral.EphemeralResource { return token{} },
		func() ephemeral.EphemeralResource { return validatedToken{} },
	}
}

func (p *foreign) Functions(context.Context) []func() function.Function {
	var all []func() function.Function
	for _, one := range functions() {
		all = append(all, func() function.Function { return one })
	}
	return all
}

func (p *foreign) ListResources(context.Context) []func() list.ListResource {
	return []func() list.ListResource{func() list.ListResource { return listed{} }}
}

func (p *foreign) Actions(context.Context) []func() action.Action {
	return []func() action.Action{func() action.Action { return note{} }}
}
