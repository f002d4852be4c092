package legacy

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-sdk/v2/helper/customdiff"
	"github.com/hashicorp/terraform-plugin-sdk/v2/helper/schema"

	"formwork.test/foreign/world"
)

// diff changes its planned values in every way that a CustomizeDiff function has.
func diff() *schema.Resource {
	kind := kind{schema: map[string]*schema.Schema{
		"name":    {Type: schema.TypeString, Required: true},
		"size":    {Type: schema.TypeInt, Optional: true, Default: 1},
		"kind":    {Type: schema.TypeString, Optional: true},
		"noise":   {Type: schema.TypeString, Optional: true, Computed: true},
		"version": {Type: schema.TypeInt, Computed: true},
		"digest":  {Type: schema.TypeString, Computed: true},
		"history": {Type: schema.TypeList, Computed: true, Elem: of(schema.TypeString)},
		"part": blocks(schema.TypeList, map[string]*schema.Schema{
			"kind": {Type: schema.TypeString, Optional: true},
			"mark": {Type: schema.TypeString, Computed: true},
		}),
	}}
	kind.fill = func(object world.Object, d *schema.ResourceData) {
		version, _ := object["version"].(int)
		if d.HasChange("size") || d.IsNewResource() {
			object["version"] = version + 1
		}
		object["digest"] = fmt.Sprintf("%s/%d", d.Get("name"), d.Get("size"))
		object["history"] = []any{fmt.Sprintf("size %d", d.Get("size"))}
		if object["noise"] == "" {
			object["noise"] = "hum"
		}
	}
	resource := kind.resource()
	resource.CustomizeDiff = customdiff.All(
		customdiff.ForceNewIfChange("size", func(_ context.Context, before, after, _ any) bool {
			return after.(int) < before.(int)
		}),
		customdiff.ForceNewIfChange("kind", func(_ context.Context, before, _, _ any) bool {
			return before.(string) != ""
		}),
		customdiff.ComputedIf("version", func(_ context.Context, d *schema.ResourceDiff, _ any) bool {
			return d.HasChange("size")
		}),
		customdiff.ValidateValue("size", func(_ context.Context, value, _ any) error {
			if value.(int) > 100 {
				return fmt.Errorf("size %d is too large: the service has 100 at most", value)
			}
			return nil
		}),
		func(_ context.Context, d *schema.ResourceDiff, _ any) error {
			if d.NewValueKnown("name") && d.NewValueKnown("size") {
				return d.SetNew("digest", fmt.Sprintf("%s/%d", d.Get("name"), d.Get("size")))
			}
			return d.SetNewComputed("digest")
		},
		func(_ context.Context, d *schema.ResourceDiff, _ any) error {
			before, after := d.GetChange("noise")
			if d.Id() != "" && strings.TrimSpace(before.(string)) == strings.TrimSpace(after.(string)) {
				return d.Clear("noise")
			}
			return nil
		},
		func(_ context.Context, d *schema.ResourceDiff, _ any) error {
			if d.Id() != "" && d.HasChange("size") {
				return d.SetNewComputed("history")
			}
			return nil
		},
	)
	return resource
}

// tagged has one map that the user writes, and one with all tags, planned by the provider.
func tagged() *schema.Resource {
	kind := kind{schema: map[string]*schema.Schema{
		"name": name(),
		"tags": {Type: schema.TypeMap, Optional: true, Elem: of(schema.TypeString)},
		"tags_all": {
			Type: schema.TypeMap, Optional: true, Computed: true, Elem: of(schema.TypeString),
		},
	}}
	all := func(tags any) map[string]any {
		all := map[string]any{"owner": "team"}
		for key, value := range tags.(map[string]any) {
			all[key] = value
		}
		return all
	}
	kind.fill = func(object world.Object, d *schema.ResourceData) {
		object["tags_all"] = all(d.Get("tags"))
	}
	resource := kind.resource()
	resource.CustomizeDiff = func(_ context.Context, d *schema.ResourceDiff, _ any) error {
		if !d.GetRawPlan().GetAttr("tags").IsWhollyKnown() {
			return d.SetNewComputed("tags_all")
		}
		return d.SetNew("tags_all", all(d.Get("tags")))
	}
	return resource
}
