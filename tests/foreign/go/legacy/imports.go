package legacy

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/hashicorp/go-cty/cty"
	"github.com/hashicorp/terraform-plugin-sdk/v2/diag"
	"github.com/hashicorp/terraform-plugin-sdk/v2/helper/schema"

	"formwork.test/foreign/world"
)

// pair is imported by two parts of an ID.
func pair() *schema.Resource {
	kind := kind{schema: map[string]*schema.Schema{
		"name": name(),
		"half": {Type: schema.TypeString, Optional: true},
		"part": blocks(schema.TypeList, map[string]*schema.Schema{"size": {Type: schema.TypeInt, Optional: true}}),
	}}
	resource := kind.resource()
	resource.Importer = &schema.ResourceImporter{
		StateContext: func(_ context.Context, d *schema.ResourceData, _ any) ([]*schema.ResourceData, error) {
			name, number, found := strings.Cut(d.Id(), "/")
			if !found {
				return nil, fmt.Errorf("unexpected ID %q: expected NAME/NUMBER", d.Id())
			}
			d.SetId(name + "-" + number)
			return []*schema.ResourceData{d}, d.Set("half", "imported")
		},
	}
	return resource
}

// versioned has the schema version that TEST_VERSION names, and upgrades the state of those before.
func versioned() *schema.Resource {
	version, _ := strconv.Atoi(os.Getenv("TEST_VERSION"))
	attributes := map[string]*schema.Schema{"name": name()}
	switch version {
	case 0:
		attributes["size"] = &schema.Schema{Type: schema.TypeString, Optional: true}
	case 1:
		attributes["size"] = &schema.Schema{Type: schema.TypeInt, Optional: true}
	default:
		attributes["part"] = blocks(schema.TypeList, map[string]*schema.Schema{
			"size": {Type: schema.TypeInt, Optional: true},
		})
	}
	resource := kind{schema: attributes}.resource()
	resource.SchemaVersion = version
	upgraders := []schema.StateUpgrader{
		{Version: 0, Type: versionedType(cty.String), Upgrade: sizeToNumber},
		{Version: 1, Type: versionedType(cty.Number), Upgrade: sizeToPart},
	}
	resource.StateUpgraders = upgraders[:min(version, len(upgraders))]
	resource.ReadContext = func(_ context.Context, d *schema.ResourceData, _ any) diag.Diagnostics { return nil }
	return resource
}

func versionedType(size cty.Type) cty.Type {
	return cty.Object(map[string]cty.Type{"id": cty.String, "name": cty.String, "size": size})
}

func sizeToNumber(_ context.Context, state map[string]any, _ any) (map[string]any, error) {
	if text, ok := state["size"].(string); ok && text != "" {
		size, err := strconv.Atoi(text)
		if err != nil {
			return nil, fmt.Errorf("size %q is not a number", text)
		}
		state["size"] = size
		return state, nil
	}
	delete(state, "size")
	return state, nil
}

func sizeToPart(_ context.Context, state map[string]any, _ any) (map[string]any, error) {
	if size, found := state["size"]; found && size != nil {
		state["part"] = []any{map[string]any{"size": size}}
	}
	delete(state, "size")
	return state, nil
}

// lookup reads an object by its ID.
func lookup() *schema.Resource {
	attributes := map[string]*schema.Schema{
		"of":    {Type: schema.TypeString, Required: true},
		"name":  {Type: schema.TypeString, Computed: true},
		"text":  {Type: schema.TypeString, Computed: true},
		"token": {Type: schema.TypeString, Computed: true, Sensitive: true},
		"rule": {Type: schema.TypeList, Computed: true, Elem: &schema.Resource{
			Schema: map[string]*schema.Schema{
				"port":  {Type: schema.TypeInt, Computed: true},
				"hosts": {Type: schema.TypeSet, Computed: true, Elem: of(schema.TypeString)},
			},
		}},
	}
	read := func(_ context.Context, d *schema.ResourceData, _ any) diag.Diagnostics {
		id := d.Get("of").(string)
		object, err := world.Read(id)
		if err != nil {
			return diag.FromErr(err)
		}
		if object == nil {
			return diag.Diagnostics{{
				Severity:      diag.Error,
				Summary:       "No such object",
				Detail:        fmt.Sprintf("The service has no object with the ID %q.", id),
				AttributePath: cty.GetAttrPath("of"),
			}}
		}
		d.SetId(id)
		var rules []any
		list, _ := object["rule"].([]any)
		for _, element := range list {
			rule := element.(map[string]any)
			rules = append(rules, map[string]any{"port": rule["port"], "hosts": rule["hosts"]})
		}
		object["rule"] = rules
		return set(d, attributes, object)
	}
	return &schema.Resource{Schema: attributes, ReadContext: read}
}

// echo returns its arguments.
func echo() *schema.Resource {
	filter := blocks(schema.TypeSet, map[string]*schema.Schema{
		"key":    {Type: schema.TypeString, Required: true},
		"values": {Type: schema.TypeList, Required: true, Elem: of(schema.TypeString)},
		"exact":  {Type: schema.TypeBool, Optional: true, Default: false},
	})
	attributes := map[string]*schema.Schema{
		"text":   {Type: schema.TypeString, Optional: true, Default: "nothing"},
		"filter": filter,
		"zone":   {Type: schema.TypeString, Optional: true, Computed: true},
		"result": {Type: schema.TypeString, Computed: true},
	}
	read := func(_ context.Context, d *schema.ResourceData, _ any) diag.Diagnostics {
		d.SetId("echo")
		if d.Get("zone") == "" {
			_ = d.Set("zone", "zone-a")
		}
		count := d.Get("filter").(*schema.Set).Len()
		return diag.FromErr(d.Set("result", fmt.Sprintf("%s with %d filters", d.Get("text"), count)))
	}
	return &schema.Resource{Schema: attributes, ReadContext: read}
}

// oldData is a deprecated data source that warns whenever it is read.
func oldData() *schema.Resource {
	read := func(_ context.Context, d *schema.ResourceData, _ any) diag.Diagnostics {
		d.SetId("old")
		return diag.Diagnostics{{Severity: diag.Warning, Summary: "This is an old data source"}}
	}
	attributes := map[string]*schema.Schema{"text": {Type: schema.TypeString, Optional: true}}
	return &schema.Resource{Schema: attributes, ReadContext: read, DeprecationMessage: "Use echo instead."}
}
