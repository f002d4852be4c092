// Command terraform-provider-NAME serves one of the test providers: the name of the program says which.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov5"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-mux/tf5muxserver"
	"github.com/hashicorp/terraform-plugin-mux/tf5to6server"
	"github.com/hashicorp/terraform-plugin-mux/tf6muxserver"
	"github.com/hashicorp/terraform-plugin-mux/tf6to5server"

	"formwork.test/foreign/framework"
	"formwork.test/foreign/legacy"
)

func main() {
	name := strings.TrimPrefix(filepath.Base(os.Args[0]), "terraform-provider-")
	if err := serveNamed(name); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %s\n", name, err)
		os.Exit(2)
	}
}

func serveNamed(name string) error {
	ctx := context.Background()
	switch name {
	case "legacy":
		serve5(name, legacy.Provider(name).GRPCProvider())
	case "framework":
		serve6(name, providerserver.NewProtocol6(framework.Provider(name))())
	case "mixed":
		// SDKv2 with protocol 6, and the framework beside it.
		old, err := tf5to6server.UpgradeServer(ctx, legacy.Part(name).GRPCProvider)
		if err != nil {
			return err
		}
		combined, err := tf6muxserver.NewMuxServer(ctx,
			func() tfprotov6.ProviderServer { return old },
			providerserver.NewProtocol6(framework.Part(name+"_new")),
		)
		if err != nil {
			return err
		}
		serve6(name, combined)
	case "mixedfive":
		// The framework with protocol 5, and SDKv2 beside it.
		upper := providerserver.NewProtocol6(framework.PartFive(name + "_new"))
		lowered, err := tf6to5server.DowngradeServer(ctx, upper)
		if err != nil {
			return err
		}
		combined, err := tf5muxserver.NewMuxServer(ctx,
			legacy.Part(name).GRPCProvider,
			func() tfprotov5.ProviderServer { return lowered },
		)
		if err != nil {
			return err
		}
		serve5(name, combined)
	default:
		return fmt.Errorf("there is no such provider")
	}
	return nil
}
