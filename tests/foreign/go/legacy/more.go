package legacy

import (
	"context"
	"hash/crc32"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-sdk/v2/diag"
	"github.com/hashicorp/terraform-plugin-sdk/v2/helper/customdiff"
	"github.com/hashicorp/terraform-plugin-sdk/v2/helper/schema"

	"formwork.test/foreign/world"
)

// more has features of attributes within blocks, and objects that end otherwise than asked for.
func more() *schema.Resource {
	part := blocks(schema.TypeList, map[string]*schema.Schema{
		"kind": {Type: schema.TypeString, Optional: true, Default: "plain"},
		"label": {
			Type:     schema.TypeString,
			Optional: true,
			DiffSuppressFunc: func(_, before, after string, _ *schema.ResourceData) bool {
				return strings.EqualFold(before, after)
			},
		},
		"content": {
			Type:      schema.TypeString,
			Optional:  true,
			StateFunc: func(value any) string { return strings.ToLower(value.(string)) },
		},
		"secret": {Type: schema.TypeString, Optional: true, Sensitive: true},
	})
	member := blocks(schema.TypeSet, map[string]*schema.Schema{
		"name": {Type: schema.TypeString, Required: true},
		"note": {Type: schema.TypeString, Optional: true},
		"role": blocks(schema.TypeSet, map[string]*schema.Schema{
			"name": {Type: schema.TypeString, Required: true},
			"on":   {Type: schema.TypeBool, Optional: true, Default: true},
		}),
	})
	// The note does not count.
	member.Set = func(value any) int {
		name := value.(map[string]any)["name"].(string)
		return int(crc32.ChecksumIEEE([]byte(name)))
	}
	attributes := map[string]*schema.Schema{
		"name":   name(),
		"part":   part,
		"member": member,
		"total":  {Type: schema.TypeFloat, Optional: true, Computed: true},
	}
	kind := kind{schema: attributes, fill: func(object world.Object, _ *schema.ResourceData) {
		list, _ := object["part"].([]any)
		for _, element := range list {
			if one, ok := element.(map[string]any); ok {
				content, _ := one["content"].(string)
				one["content"] = strings.ToLower(content)
			}
		}
		if object["total"] == 0.0 {
			object["total"] = 0.1
		}
	}}
	resource := kind.resource()
	resource.Schema = nil
	resource.SchemaFunc = func() map[string]*schema.Schema { return attributes }
	resource.UseJSONNumber = true
	resource.Description = "Attributes within blocks."
	resource.Timeouts = &schema.ResourceTimeout{Create: schema.DefaultTimeout(time.Minute)}
	resource.CustomizeDiff = customdiff.All(
		customdiff.ForceNewIfChange("part.0.kind", func(_ context.Context, before, _, _ any) bool {
			return before.(string) != "plain"
		}),
		customdiff.IfValueChange("total", func(_ context.Context, _, after, _ any) bool {
			return after.(float64) > 1
		}, func(_ context.Context, d *schema.ResourceDiff, _ any) error { return d.ForceNew("total") }),
	)
	resource.CreateContext = func(ctx context.Context, d *schema.ResourceData, meta any) diag.Diagnostics {
		switch d.Get("name") {
		case "slow":
			<-ctx.Done()
			return diag.Errorf("the service did not answer: %s", ctx.Err())
		case "vanished":
			d.SetId("")
			return diag.Diagnostics{{Severity: diag.Warning, Summary: "The object is gone already"}}
		}
		return kind.create(ctx, d, meta)
	}
	resource.Importer = &schema.ResourceImporter{
		StateContext: func(_ context.Context, d *schema.ResourceData, _ any) ([]*schema.ResourceData, error) {
			if !strings.Contains(d.Id(), "+") {
				return []*schema.ResourceData{d}, nil
			}
			first, second, _ := strings.Cut(d.Id(), "+")
			d.SetId(first)
			other := more().Data(nil)
			other.SetType("legacy_more")
			other.SetId(second)
			return []*schema.ResourceData{d, other}, nil
		},
	}
	return resource
}

// strict is held to its plans: the leniencies for its type system do not apply.
func strict() *schema.Resource {
	resource := more()
	resource.EnableLegacyTypeSystemPlanErrors = true
	resource.EnableLegacyTypeSystemApplyErrors = true
	return resource
}
