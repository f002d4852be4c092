package legacy

import (
	"context"
	"github.com/hashicorp/terraform-plugin-sdk/v2/diag"
	"github.com/hashicorp/terraform-plugin-sdk/v2/helper/schema"

	"formwork.test/foreign/world"
)

func blocks(ty schema.ValueType, fields map[string]*schema.Schema) *schema.Schema {
	return &schema.Schema{Type: ty, Optional: true, Elem: &schema.Resource{Schema: fields}}
}

// block has blocks of every kind, some of them optional and computed.
func block() *schema.Resource {
	rule := blocks(schema.TypeList, map[string]*schema.Schema{
		"port":     {Type: schema.TypeInt, Required: true},
		"protocol": {Type: schema.TypeString, Optional: true, Default: "tcp"},
		"note":     {Type: schema.TypeString, Optional: true, Computed: true},
		"hosts":    {Type: schema.TypeSet, Optional: true, Elem: of(schema.TypeString)},
	})
	disk := blocks(schema.TypeSet, map[string]*schema.Schema{
		"size":  {Type: schema.TypeInt, Required: true},
		"kind":  {Type: schema.TypeString, Optional: true, ForceNew: true},
		"label": {Type: schema.TypeString, Optional: true, Computed: true},
		"tags":  {Type: schema.TypeMap, Optional: true, Elem: of(schema.TypeString)},
	})
	single := blocks(schema.TypeList, map[string]*schema.Schema{
		"mode":    {Type: schema.TypeString, Optional: true},
		"members": {Type: schema.TypeSet, Optional: true, Elem: of(schema.TypeString)},
	})
	single.MaxItems = 1
	fixed := blocks(schema.TypeList, map[string]*schema.Schema{
		"size": {Type: schema.TypeInt, Optional: true},
	})
	fixed.MaxItems, fixed.ForceNew = 1, true
	policy := blocks(schema.TypeList, map[string]*schema.Schema{
		"mode": {Type: schema.TypeString, Optional: true, Computed: true},
		"ttl":  {Type: schema.TypeInt, Optional: true, Computed: true},
	})
	policy.Computed, policy.MaxItems = true, 1
	access := blocks(schema.TypeSet, map[string]*schema.Schema{
		"role":    {Type: schema.TypeString, Optional: true},
		"members": {Type: schema.TypeSet, Optional: true, Elem: of(schema.TypeString)},
	})
	access.Computed = true
	ranges := blocks(schema.TypeList, map[string]*schema.Schema{
		"from": {Type: schema.TypeInt, Required: true},
		"to":   {Type: schema.TypeInt, Optional: true, Computed: true},
	})
	ranges.Computed = true
	// The service has nothing to say about it.
	quiet := blocks(schema.TypeList, map[string]*schema.Schema{
		"text": {Type: schema.TypeString, Optional: true, Computed: true},
	})
	quiet.Computed, quiet.MaxItems = true, 1
	status := &schema.Schema{Type: schema.TypeList, Computed: true, Elem: &schema.Resource{
		Schema: map[string]*schema.Schema{
			"state": {Type: schema.TypeString, Computed: true},
			"code":  {Type: schema.TypeInt, Computed: true},
		},
	}}
	return kind{fill: fillBlock, schema: map[string]*schema.Schema{
		"name": name(), "text": {Type: schema.TypeString, Optional: true},
		"rule": rule, "disk": disk, "single": single, "fixed": fixed, "policy": policy,
		"access": access, "range": ranges, "quiet": quiet, "status": status,
	}}.resource()
}

func fillBlock(object world.Object, d *schema.ResourceData) {
	fields := func(name string, fill func(map[string]any)) {
		list, _ := object[name].([]any)
		for _, element := range list {
			if one, ok := element.(map[string]any); ok {
				fill(one)
			}
		}
	}
	fields("rule", func(rule map[string]any) {
		if rule["note"] == "" {
			rule["note"] = "noted"
		}
	})
	fields("disk", func(disk map[string]any) {
		if disk["label"] == "" {
			disk["label"] = "disk"
		}
	})
	if isEmpty(object["policy"]) {
		object["policy"] = []any{map[string]any{"mode": "auto", "ttl": 60}}
	}
	fields("policy", func(policy map[string]any) {
		if policy["mode"] == "" {
			policy["mode"] = "auto"
		}
	})
	if isEmpty(object["access"]) {
		object["access"] = []any{
			map[string]any{"role": "owner", "members": []any{"me", "you"}},
			map[string]any{"role": "reader"},
		}
	}
	object["status"] = []any{map[string]any{"state": "ready", "code": 200}}
}

// attribute has blocks that are attributes of the protocol, which the language takes as blocks too.
func attribute() *schema.Resource {
	as := func(ty schema.ValueType, mode schema.SchemaConfigMode, fields map[string]*schema.Schema) *schema.Schema {
		attribute := blocks(ty, fields)
		attribute.ConfigMode = mode
		return attribute
	}
	peer := func() map[string]*schema.Schema {
		return map[string]*schema.Schema{
			"host":  {Type: schema.TypeString, Required: true},
			"ports": {Type: schema.TypeList, Optional: true, Elem: of(schema.TypeInt)},
			"main":  {Type: schema.TypeBool, Optional: true},
		}
	}
	ranges := as(schema.TypeList, schema.SchemaConfigModeAttr, map[string]*schema.Schema{
		"cidr": {Type: schema.TypeString, Optional: true, Computed: true},
		"name": {Type: schema.TypeString, Optional: true},
	})
	ranges.Computed = true
	// Within an attribute everything is one.
	outer := as(schema.TypeList, schema.SchemaConfigModeAttr, map[string]*schema.Schema{
		"name":  {Type: schema.TypeString, Optional: true},
		"inner": as(schema.TypeSet, schema.SchemaConfigModeAttr, peer()),
	})
	within := blocks(schema.TypeList, map[string]*schema.Schema{
		"name": {Type: schema.TypeString, Optional: true},
		"peer": as(schema.TypeList, schema.SchemaConfigModeAttr, peer()),
	})
	computed := as(schema.TypeList, schema.SchemaConfigModeBlock, map[string]*schema.Schema{
		"text": {Type: schema.TypeString, Optional: true, Computed: true},
	})
	computed.Computed = true
	return kind{schema: map[string]*schema.Schema{
		"name":     name(),
		"peer":     as(schema.TypeSet, schema.SchemaConfigModeAttr, peer()),
		"hop":      as(schema.TypeList, schema.SchemaConfigModeAttr, peer()),
		"range":    ranges,
		"outer":    outer,
		"within":   within,
		"computed": computed,
	}}.resource()
}

// deep has sets in lists in sets of blocks.
func deep() *schema.Resource {
	leaf := blocks(schema.TypeSet, map[string]*schema.Schema{
		"key":    {Type: schema.TypeString, Required: true},
		"values": {Type: schema.TypeSet, Optional: true, Elem: of(schema.TypeString)},
		"extra":  {Type: schema.TypeString, Optional: true, Computed: true},
	})
	middle := blocks(schema.TypeList, map[string]*schema.Schema{
		"title": {Type: schema.TypeString, Optional: true},
		"leaf":  leaf,
		"only": func() *schema.Schema {
			only := blocks(schema.TypeList, map[string]*schema.Schema{
				"on": {Type: schema.TypeBool, Optional: true},
			})
			only.MaxItems = 1
			return only
		}(),
	})
	root := blocks(schema.TypeSet, map[string]*schema.Schema{
		"title":  {Type: schema.TypeString, Optional: true},
		"middle": middle,
	})
	needed := blocks(schema.TypeList, map[string]*schema.Schema{
		"on":    {Type: schema.TypeBool, Optional: true},
		"peers": {Type: schema.TypeSet, Optional: true, Elem: of(schema.TypeString)},
	})
	needed.Optional, needed.Required, needed.MinItems, needed.MaxItems = false, true, 1, 2
	return kind{schema: map[string]*schema.Schema{"name": name(), "root": root, "needed": needed}}.resource()
}

// bare has blocks that may be empty, and never sets in the state what the service does not have.
func bare() *schema.Resource {
	empty := blocks(schema.TypeList, map[string]*schema.Schema{
		"on":    {Type: schema.TypeBool, Optional: true},
		"hosts": {Type: schema.TypeSet, Optional: true, Elem: of(schema.TypeString)},
		"part":  blocks(schema.TypeSet, map[string]*schema.Schema{"size": {Type: schema.TypeInt, Optional: true}}),
	})
	empty.MaxItems = 1
	resource := kind{schema: map[string]*schema.Schema{"name": name(), "empty": empty}}.resource()
	// It leaves the state as it was planned.
	resource.ReadContext = func(_ context.Context, d *schema.ResourceData, _ any) diag.Diagnostics {
		object, err := world.Read(d.Id())
		if object == nil {
			d.SetId("")
		}
		return diag.FromErr(err)
	}
	return resource
}
