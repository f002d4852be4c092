package framework

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/action"
	actionschema "github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	dataschema "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	ephemeralschema "github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/list"
	listschema "github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"formwork.test/foreign/world"
)

func tfprotov6Options() tfprotov6.UnmarshalOpts {
	options := tfprotov6.UnmarshalOpts{}
	options.ValueFromJSONOpts.IgnoreUndefinedAttributes = true
	return options
}

// echo returns its arguments.
type echo struct{}

func (echo) Metadata(_ context.Context, request datasource.MetadataRequest, response *datasource.MetadataResponse) {
	response.TypeName = request.ProviderTypeName + "_repeat"
}

func (echo) Schema(_ context.Context, _ datasource.SchemaRequest, response *datasource.SchemaResponse) {
	response.Schema = dataschema.Schema{
		Attributes: map[string]dataschema.Attribute{
			"text":   dataschema.StringAttribute{Required: true},
			"any":    dataschema.DynamicAttribute{Optional: true},
			"result": dataschema.StringAttribute{Computed: true},
			"words":  dataschema.SetAttribute{Optional: true, Computed: true, ElementType: types.StringType},
		},
		Blocks: map[string]dataschema.Block{
			"filter": dataschema.ListNestedBlock{NestedObject: dataschema.NestedBlockObject{
				Attributes: map[string]dataschema.Attribute{
					"key":   dataschema.StringAttribute{Required: true},
					"found": dataschema.BoolAttribute{Computed: true},
				},
			}},
		},
	}
}

func (echo) Read(ctx context.Context, request datasource.ReadRequest, response *datasource.ReadResponse) {
	said := text(ctx, request.Config.GetAttribute, "text")
	taste(&response.Diagnostics, path.Root("text"), said)
	response.State.Raw = request.Config.Raw
	response.Diagnostics.Append(response.State.SetAttribute(ctx, path.Root("result"), said+"!")...)
}

// token is opened with a lifetime, renewed and closed, and each is recorded as a request.
type token struct{}

func (token) Metadata(_ context.Context, request ephemeral.MetadataRequest, response *ephemeral.MetadataResponse) {
	response.TypeName = request.ProviderTypeName + "_token"
}

func (token) Schema(_ context.Context, _ ephemeral.SchemaRequest, response *ephemeral.SchemaResponse) {
	response.Schema = ephemeralschema.Schema{Attributes: map[string]ephemeralschema.Attribute{
		"name":  ephemeralschema.StringAttribute{Required: true},
		"scope": ephemeralschema.SetAttribute{Optional: true, ElementType: types.StringType},
		"value": ephemeralschema.StringAttribute{Computed: true},
	}}
}

func (token) Open(ctx context.Context, request ephemeral.OpenRequest, response *ephemeral.OpenResponse) {
	name := text(ctx, request.Config.GetAttribute, "name")
	if world.Fault("open "+name) != world.Never {
		fail(&response.Diagnostics, "open", name)
		return
	}
	response.Result.Raw = request.Config.Raw
	response.Diagnostics.Append(response.Result.SetAttribute(ctx, path.Root("value"), "token of "+name)...)
	response.Diagnostics.Append(response.Private.SetKey(ctx, "name", fmt.Appendf(nil, "%q", name))...)
	response.RenewAt = time.Now().Add(time.Hour)
}

func (token) Renew(_ context.Context, _ ephemeral.RenewRequest, response *ephemeral.RenewResponse) {
	response.RenewAt = time.Now().Add(time.Hour)
}

func (token) Close(ctx context.Context, request ephemeral.CloseRequest, response *ephemeral.CloseResponse) {
	name, _ := request.Private.GetKey(ctx, "name")
	if world.Fault("close "+string(name)) != world.Never {
		response.Diagnostics.AddError("Cannot close", "The service is not available.")
	}
}

// listed lists objects of the type identified: those in the world.
type listed struct{}

func (listed) Metadata(_ context.Context, request resource.MetadataRequest, response *resource.MetadataResponse) {
	response.TypeName = request.ProviderTypeName + "_identified"
}

func (listed) ListResourceConfigSchema(_ context.Context, _ list.ListResourceSchemaRequest, response *list.ListResourceSchemaResponse) {
	response.Schema = listschema.Schema{Attributes: map[string]listschema.Attribute{
		"prefix": listschema.StringAttribute{Optional: true},
	}}
}

func (listed) List(ctx context.Context, request list.ListRequest, stream *list.ListResultsStream) {
	stream.Results = func(push func(list.ListResult) bool) {
		result := request.NewListResult(ctx)
		result.DisplayName = "one"
		result.Diagnostics.Append(result.Identity.SetAttribute(ctx, path.Root("id"), "one")...)
		push(result)
	}
}

// note appends its text to the file "notes" of the world.
type note struct{}

func (note) Metadata(_ context.Context, request action.MetadataRequest, response *action.MetadataResponse) {
	response.TypeName = request.ProviderTypeName + "_note"
}

func (note) Schema(_ context.Context, _ action.SchemaRequest, response *action.SchemaResponse) {
	response.Schema = actionschema.Schema{Attributes: map[string]actionschema.Attribute{
		"text": actionschema.StringAttribute{Required: true},
	}}
}

func (note) Invoke(ctx context.Context, request action.InvokeRequest, response *action.InvokeResponse) {
	response.SendProgress(action.InvokeProgressEvent{Message: "writing"})
	if err := world.Store("notes", world.Object{"text": text(ctx, request.Config.GetAttribute, "text")}); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}
