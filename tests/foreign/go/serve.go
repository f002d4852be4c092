package main

import (
	"context"

	"github.com/hashicorp/go-plugin"
	"github.com/hashicorp/terraform-plugin-go/tfprotov5"
	"github.com/hashicorp/terraform-plugin-go/tfprotov5/tf5server"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"
	"google.golang.org/grpc"

	"formwork.test/foreign/record"
)

// serve5 serves a provider with protocol 5 until the engine ends it.
func serve5(name string, server tfprotov5.ProviderServer) {
	recorder := record.New(func() record.Types { return types5(server) })
	factory := func() tfprotov5.ProviderServer { return server }
	serve(5, &tf5server.GRPCProviderPlugin{Name: name, GRPCProvider: factory}, recorder)
}

// serve6 serves a provider with protocol 6 until the engine ends it.
func serve6(name string, server tfprotov6.ProviderServer) {
	recorder := record.New(func() record.Types { return types6(server) })
	factory := func() tfprotov6.ProviderServer { return server }
	serve(6, &tf6server.GRPCProviderPlugin{Name: name, GRPCProvider: factory}, recorder)
}

func serve(version uint, provider plugin.Plugin, recorder *record.Recorder) {
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig: plugin.HandshakeConfig{
			ProtocolVersion:  version,
			MagicCookieKey:   "TF_PLUGIN_MAGIC_COOKIE",
			MagicCookieValue: "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2",
		},
		Plugins: plugin.PluginSet{"provider": provider},
		GRPCServer: func(options []grpc.ServerOption) *grpc.Server {
			return grpc.NewServer(append(options, recorder.Options()...)...)
		},
	})
}

func types5(server tfprotov5.ProviderServer) record.Types {
	response, err := server.GetProviderSchema(context.Background(), &tfprotov5.GetProviderSchemaRequest{})
	if err != nil {
		panic(err)
	}
	types := record.Types{}
	add := func(key string, schema *tfprotov5.Schema) {
		if schema != nil {
			types.Add(key, schema.ValueType())
		}
	}
	add(record.Provider, response.Provider)
	add(record.Meta, response.ProviderMeta)
	for name, schema := range response.ResourceSchemas {
		add(record.Resource+name, schema)
	}
	for name, schema := range response.DataSourceSchemas {
		add(record.Data+name, schema)
	}
	for name, schema := range response.EphemeralResourceSchemas {
		add(record.Ephemeral+name, schema)
	}
	for name, function := range response.Functions {
		for at, parameter := range function.Parameters {
			types.Add(record.ParameterKey(name, at), parameter.Type)
		}
		if function.VariadicParameter != nil {
			types.Add(record.Variadic+name, function.VariadicParameter.Type)
		}
	}
	return types
}

func types6(server tfprotov6.ProviderServer) record.Types {
	response, err := server.GetProviderSchema(context.Background(), &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		panic(err)
	}
	types := record.Types{}
	add := func(key string, schema *tfprotov6.Schema) {
		if schema != nil {
			types.Add(key, schema.ValueType())
		}
	}
	add(record.Provider, response.Provider)
	add(record.Meta, response.ProviderMeta)
	for name, schema := range response.ResourceSchemas {
		add(record.Resource+name, schema)
	}
	for name, schema := range response.DataSourceSchemas {
		add(record.Data+name, schema)
	}
	for name, schema := range response.EphemeralResourceSchemas {
		add(record.Ephemeral+name, schema)
	}
	for name, function := range response.Functions {
		for at, parameter := range function.Parameters {
			types.Add(record.ParameterKey(name, at), parameter.Type)
		}
		if function.VariadicParameter != nil {
			types.Add(record.Variadic+name, function.VariadicParameter.Type)
		}
	}
	return types
}
