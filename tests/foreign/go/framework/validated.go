package framework

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	dataschema "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	ephemeralschema "github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/listplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// validated validates its configuration as a whole. What the service computed is kept, unless it is null.
func validated() object {
	part := schema.NestedBlockObject{
		Attributes: map[string]schema.Attribute{
			"key": schema.StringAttribute{Optional: true},
			"label": schema.StringAttribute{Optional: true, Computed: true, PlanModifiers: []planmodifier.String{
				stringplanmodifier.UseNonNullStateForUnknown(),
			}},
			"note": schema.StringAttribute{Computed: true, PlanModifiers: []planmodifier.String{
				stringplanmodifier.UseStateForUnknown(),
			}},
		},
	}
	with := func(r plain) resource.Resource { return checking{r} }
	return object{name: "validated", with: with, schema: schema.Schema{
		Attributes: map[string]schema.Attribute{
			"id":    id(),
			"name":  name(),
			"one":   schema.StringAttribute{Optional: true},
			"other": schema.StringAttribute{Optional: true},
			"limit": schema.Int64Attribute{Optional: true},
			"zone": schema.StringAttribute{Optional: true, Computed: true, PlanModifiers: []planmodifier.String{
				stringplanmodifier.UseNonNullStateForUnknown(),
			}},
			"kept": schema.StringAttribute{Computed: true, PlanModifiers: []planmodifier.String{
				stringplanmodifier.UseStateForUnknown(),
			}},
			"size": schema.Int64Attribute{Computed: true, PlanModifiers: []planmodifier.Int64{
				int64planmodifier.UseNonNullStateForUnknown(),
			}},
			"words": schema.ListAttribute{
				Computed: true, ElementType: types.StringType,
				PlanModifiers: []planmodifier.List{listplanmodifier.UseNonNullStateForUnknown()},
			},
		},
		Blocks: map[string]schema.Block{
			"part": schema.ListNestedBlock{NestedObject: part, Validators: []validator.List{few{}}},
		},
	}}
}

type checking struct{ plain }

func (checking) ConfigValidators(context.Context) []resource.ConfigValidator {
	return []resource.ConfigValidator{exclusive{}, announced{}}
}

func (checking) ValidateConfig(ctx context.Context, request resource.ValidateConfigRequest, response *resource.ValidateConfigResponse) {
	var limit types.Int64
	request.Config.GetAttribute(ctx, path.Root("limit"), &limit)
	if limit.ValueInt64() > 10 {
		response.Diagnostics.AddAttributeError(path.Root("limit"), "Limit is too high", "The service has 10 at most.")
		response.Diagnostics.AddError("Nothing else was looked at", "Mend the limit first.")
	}
	if limit.ValueInt64() < 0 {
		place := path.Root("part").AtListIndex(1).AtName("key")
		response.Diagnostics.AddAttributeError(place, "Key does not fit the limit", "It has to be positive.")
		response.Diagnostics.AddAttributeWarning(path.Root("nowhere"), "Limit is negative", "That is unusual.")
	}
}

// exclusive refuses a configuration with both of two arguments.
type exclusive struct{}

func (exclusive) Description(context.Context) string         { return "one or other" }
func (exclusive) MarkdownDescription(context.Context) string { return "*one* or *other*" }

func (exclusive) ValidateResource(ctx context.Context, request resource.ValidateConfigRequest, response *resource.ValidateConfigResponse) {
	refuseBoth(ctx, request.Config, &response.Diagnostics)
}

func (exclusive) ValidateDataSource(ctx context.Context, request datasource.ValidateConfigRequest, response *datasource.ValidateConfigResponse) {
	refuseBoth(ctx, request.Config, &response.Diagnostics)
}

func (exclusive) ValidateEphemeralResource(ctx context.Context, request ephemeral.ValidateConfigRequest, response *ephemeral.ValidateConfigResponse) {
	refuseBoth(ctx, request.Config, &response.Diagnostics)
}

func refuseBoth(ctx context.Context, config tfsdk.Config, diagnostics *diag.Diagnostics) {
	var one, other types.String
	config.GetAttribute(ctx, path.Root("one"), &one)
	config.GetAttribute(ctx, path.Root("other"), &other)
	if one.IsUnknown() || other.IsUnknown() || one.IsNull() || other.IsNull() {
		return
	}
	for _, name := range []string{"one", "other"} {
		diagnostics.AddAttributeError(path.Root(name), "Invalid Attribute Combination",
			"These attributes cannot be configured together: [one,other]")
	}
}

// announced warns of a configuration of which something is not known.
type announced struct{}

func (announced) Description(context.Context) string         { return "known" }
func (announced) MarkdownDescription(context.Context) string { return "known" }

func (announced) ValidateResource(_ context.Context, request resource.ValidateConfigRequest, response *resource.ValidateConfigResponse) {
	if !request.Config.Raw.IsFullyKnown() {
		response.Diagnostics.AddWarning("Configuration is not known", "It is looked at again later.")
	}
}

// few refuses more than two blocks.
type few struct{}

func (few) Description(context.Context) string         { return "at most two" }
func (few) MarkdownDescription(context.Context) string { return "at most two" }

func (few) ValidateList(_ context.Context, request validator.ListRequest, response *validator.ListResponse) {
	if len(request.ConfigValue.Elements()) > 2 {
		response.Diagnostics.AddAttributeError(request.Path, "Too many parts", "There may be two of them.")
	}
}

// validatedData is a data source that validates its configuration as a whole.
type validatedData struct{}

func (validatedData) Metadata(_ context.Context, request datasource.MetadataRequest, response *datasource.MetadataResponse) {
	response.TypeName = request.ProviderTypeName + "_validated"
}

func (validatedData) Schema(_ context.Context, _ datasource.SchemaRequest, response *datasource.SchemaResponse) {
	response.Schema = dataschema.Schema{Attributes: map[string]dataschema.Attribute{
		"one":   dataschema.StringAttribute{Optional: true},
		"other": dataschema.StringAttribute{Optional: true},
	}}
}

func (validatedData) ConfigValidators(context.Context) []datasource.ConfigValidator {
	return []datasource.ConfigValidator{exclusive{}}
}

func (validatedData) ValidateConfig(ctx context.Context, request datasource.ValidateConfigRequest, response *datasource.ValidateConfigResponse) {
	taste(&response.Diagnostics, path.Root("one"), text(ctx, request.Config.GetAttribute, "one"))
}

func (validatedData) Read(_ context.Context, request datasource.ReadRequest, response *datasource.ReadResponse) {
	response.State.Raw = request.Config.Raw
}

// validatedToken is an ephemeral resource that validates its configuration as a whole.
type validatedToken struct{}

func (validatedToken) Metadata(_ context.Context, request ephemeral.MetadataRequest, response *ephemeral.MetadataResponse) {
	response.TypeName = request.ProviderTypeName + "_validated"
}

func (validatedToken) Schema(_ context.Context, _ ephemeral.SchemaRequest, response *ephemeral.SchemaResponse) {
	response.Schema = ephemeralschema.Schema{Attributes: map[string]ephemeralschema.Attribute{
		"one":   ephemeralschema.StringAttribute{Optional: true},
		"other": ephemeralschema.StringAttribute{Optional: true},
	}}
}

func (validatedToken) ConfigValidators(context.Context) []ephemeral.ConfigValidator {
	return []ephemeral.ConfigValidator{exclusive{}}
}

func (validatedToken) ValidateConfig(ctx context.Context, request ephemeral.ValidateConfigRequest, response *ephemeral.ValidateConfigResponse) {
	taste(&response.Diagnostics, path.Root("other"), text(ctx, request.Config.GetAttribute, "other"))
}

func (validatedToken) Open(_ context.Context, request ephemeral.OpenRequest, response *ephemeral.OpenResponse) {
	response.Result.Raw = request.Config.Raw
}

// ConfigValidators looks at the arguments of the provider together.
func (p *foreign) ConfigValidators(context.Context) []provider.ConfigValidator {
	if p.isPart {
		return nil
	}
	return []provider.ConfigValidator{located{}}
}

// ValidateConfig looks at the region.
func (p *foreign) ValidateConfig(ctx context.Context, request provider.ValidateConfigRequest, response *provider.ValidateConfigResponse) {
	taste(&response.Diagnostics, path.Root("region"), text(ctx, request.Config.GetAttribute, "region"))
}

// located refuses a token for a region without one.
type located struct{}

func (located) Description(context.Context) string         { return "a region with tokens" }
func (located) MarkdownDescription(context.Context) string { return "a region with tokens" }

func (located) ValidateProvider(ctx context.Context, request provider.ValidateConfigRequest, response *provider.ValidateConfigResponse) {
	token := text(ctx, request.Config.GetAttribute, "token")
	if token != "" && text(ctx, request.Config.GetAttribute, "region") == "open" {
		response.Diagnostics.AddAttributeError(path.Root("token"), "Token in an open region", "Leave it out.")
	}
}
