// Package legacy is a provider on SDKv2, with one resource type for each group of its features.
package legacy

import (
	"context"
	"fmt"

	"github.com/hashicorp/go-cty/cty"
	"github.com/hashicorp/terraform-plugin-sdk/v2/diag"
	"github.com/hashicorp/terraform-plugin-sdk/v2/helper/schema"
	"github.com/hashicorp/terraform-plugin-sdk/v2/helper/validation"
)

// Provider returns the provider. The names of its types begin with the prefix.
func Provider(prefix string) *schema.Provider {
	resources := map[string]*schema.Resource{
		"basic":      basic(),
		"block":      block(),
		"attribute":  attribute(),
		"deep":       deep(),
		"bare":       bare(),
		"diff":       diff(),
		"tagged":     tagged(),
		"rules":      rules(),
		"flaky":      flaky(false),
		"partial":    flaky(true),
		"pair":       pair(),
		"versioned":  versioned(),
		"secret":     secret(),
		"identified": identified(),
		"old":        old(),
		"more":       more(),
		"strict":     strict(),
	}
	data := map[string]*schema.Resource{
		"lookup": lookup(),
		"echo":   echo(),
		"old":    oldData(),
	}
	return &schema.Provider{
		Schema:               providerSchema(),
		ProviderMetaSchema:   map[string]*schema.Schema{"module": {Type: schema.TypeString, Optional: true}},
		ResourcesMap:         prefixed(prefix, resources),
		DataSourcesMap:       prefixed(prefix, data),
		ConfigureContextFunc: configure,
	}
}

// Part returns the provider as a part of a combined one: with the arguments that every part has.
func Part(prefix string) *schema.Provider {
	provider := Provider(prefix)
	provider.Schema = map[string]*schema.Schema{"region": {Type: schema.TypeString, Optional: true}}
	provider.ProviderMetaSchema, provider.ConfigureContextFunc = nil, nil
	return provider
}

func prefixed(prefix string, named map[string]*schema.Resource) map[string]*schema.Resource {
	all := map[string]*schema.Resource{}
	for name, resource := range named {
		all[prefix+"_"+name] = resource
	}
	return all
}

func providerSchema() map[string]*schema.Schema {
	return map[string]*schema.Schema{
		"region": {
			Type:        schema.TypeString,
			Optional:    true,
			DefaultFunc: schema.EnvDefaultFunc("TEST_REGION", "here"),
		},
		"token": {Type: schema.TypeString, Optional: true, Sensitive: true},
		"url": {
			Type:         schema.TypeString,
			Optional:     true,
			ValidateFunc: validation.IsURLWithHTTPorHTTPS,
		},
		"retries": {Type: schema.TypeInt, Optional: true, Default: 3},
		"ancient": {Type: schema.TypeBool, Optional: true, Deprecated: "Use `region` instead."},
		"say":     {Type: schema.TypeString, Optional: true},
		"refuse":  {Type: schema.TypeString, Optional: true},
		"endpoint": {
			Type:     schema.TypeSet,
			Optional: true,
			MaxItems: 2,
			Elem: &schema.Resource{Schema: map[string]*schema.Schema{
				"service": {Type: schema.TypeString, Required: true},
				"ports":   {Type: schema.TypeSet, Optional: true, Elem: &schema.Schema{Type: schema.TypeInt}},
			}},
		},
		"features": {
			Type:     schema.TypeList,
			Optional: true,
			MaxItems: 1,
			Elem: &schema.Resource{Schema: map[string]*schema.Schema{
				"purge": {Type: schema.TypeBool, Optional: true, Default: true},
			}},
		},
	}
}

func configure(_ context.Context, d *schema.ResourceData) (any, diag.Diagnostics) {
	var said diag.Diagnostics
	if text := d.Get("say").(string); text != "" {
		said = append(said, diag.Diagnostic{
			Severity:      diag.Warning,
			Summary:       "Configured with a note",
			Detail:        text,
			AttributePath: cty.GetAttrPath("say"),
		})
	}
	if text := d.Get("refuse").(string); text != "" {
		said = append(said, diag.Diagnostic{
			Severity:      diag.Error,
			Summary:       "Configuration refused",
			Detail:        fmt.Sprintf("The service refuses it:\n  - %s", text),
			AttributePath: cty.GetAttrPath("refuse"),
		})
	}
	return d.Get("region").(string), said
}
