package legacy

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-sdk/v2/diag"
	"github.com/hashicorp/terraform-plugin-sdk/v2/helper/schema"
	"github.com/hashicorp/terraform-plugin-sdk/v2/helper/structure"

	"formwork.test/foreign/world"
)

func of(ty schema.ValueType) *schema.Schema { return &schema.Schema{Type: ty} }

func name() *schema.Schema {
	return &schema.Schema{Type: schema.TypeString, Required: true, ForceNew: true}
}

// basic has attributes of every type, and most of what an attribute can have.
func basic() *schema.Resource {
	kind := kind{fill: fillBasic, schema: map[string]*schema.Schema{
		"name":    name(),
		"text":    {Type: schema.TypeString, Optional: true},
		"size":    {Type: schema.TypeInt, Optional: true, Default: 3},
		"ratio":   {Type: schema.TypeFloat, Optional: true},
		"on":      {Type: schema.TypeBool, Optional: true, Default: true},
		"off":     {Type: schema.TypeBool, Optional: true},
		"fixed":   {Type: schema.TypeInt, Optional: true, ForceNew: true},
		"token":   {Type: schema.TypeString, Optional: true, Sensitive: true},
		"zone":    {Type: schema.TypeString, Optional: true, Computed: true},
		"region":  {Type: schema.TypeString, Optional: true, DefaultFunc: schema.EnvDefaultFunc("TEST_REGION", "here")},
		"tags":    {Type: schema.TypeMap, Optional: true, Elem: of(schema.TypeString)},
		"counts":  {Type: schema.TypeMap, Optional: true, Elem: of(schema.TypeInt)},
		"flags":   {Type: schema.TypeMap, Optional: true, Elem: of(schema.TypeBool)},
		"labels":  {Type: schema.TypeMap, Optional: true, Computed: true, Elem: of(schema.TypeString)},
		"words":   {Type: schema.TypeList, Optional: true, Elem: of(schema.TypeString)},
		"letters": {Type: schema.TypeSet, Optional: true, Elem: of(schema.TypeString), Set: schema.HashString},
		"numbers": {Type: schema.TypeSet, Optional: true, Computed: true, Elem: of(schema.TypeInt)},
		"addresses": {
			Type: schema.TypeList, Optional: true, Computed: true, Elem: of(schema.TypeString),
		},
		// The plan does not announce that an update changes it.
		"serial": {Type: schema.TypeInt, Computed: true},
		"secret": {Type: schema.TypeString, Computed: true, Sensitive: true},
		"content": {
			Type:      schema.TypeString,
			Optional:  true,
			StateFunc: func(value any) string { return digest(value.(string)) },
		},
		"label": {
			Type:     schema.TypeString,
			Optional: true,
			DiffSuppressFunc: func(_, before, after string, _ *schema.ResourceData) bool {
				return strings.EqualFold(before, after)
			},
		},
		"policy": {
			Type:                  schema.TypeString,
			Optional:              true,
			StateFunc:             func(value any) string { text, _ := structure.NormalizeJsonString(value); return text },
			DiffSuppressFunc:      structure.SuppressJsonDiff,
			DiffSuppressOnRefresh: true,
		},
	}}
	resource := kind.resource()
	resource.Timeouts = &schema.ResourceTimeout{
		Create:  schema.DefaultTimeout(10 * time.Minute),
		Update:  schema.DefaultTimeout(5 * time.Minute),
		Default: schema.DefaultTimeout(time.Minute),
	}
	resource.CreateContext = nil
	resource.CreateWithoutTimeout = kind.create
	return resource
}

func fillBasic(object world.Object, d *schema.ResourceData) {
	defaults := map[string]any{"zone": "zone-a", "labels": map[string]any{"made-by": "service"}}
	defaults["numbers"] = []any{7, 5}
	defaults["addresses"] = []any{"10.0.0.1", "10.0.0.2"}
	for name, value := range defaults {
		if !configured(d, name) && isEmpty(object[name]) {
			object[name] = value
		}
	}
	object["serial"] = d.Get("serial").(int) + 1
	object["secret"] = "secret of " + d.Get("name").(string)
	if d.HasChange("content") || d.IsNewResource() {
		object["content"] = digest(d.Get("content").(string))
	}
}

// configured tells whether the configuration has a value for the attribute.
func configured(d *schema.ResourceData, name string) bool {
	config := d.GetRawConfig()
	if config.IsNull() || !config.IsKnown() {
		return false
	}
	value := config.GetAttr(name)
	return !value.IsNull() && (!value.CanIterateElements() || value.LengthInt() > 0)
}

func isEmpty(value any) bool {
	switch value := value.(type) {
	case string:
		return value == ""
	case []any:
		return len(value) == 0
	case map[string]any:
		return len(value) == 0
	default:
		return value == nil
	}
}

func digest(text string) string {
	if text == "" || (len(text) == 16 && strings.Trim(text, "0123456789abcdef") == "") {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// old is a deprecated resource type with a deprecated attribute, whose changes return warnings.
func old() *schema.Resource {
	kind := kind{warns: true, schema: map[string]*schema.Schema{
		"name":  name(),
		"plain": {Type: schema.TypeString, Optional: true, Deprecated: "Use `text` instead."},
		"text":  {Type: schema.TypeString, Optional: true},
		"host": {
			Type: schema.TypeString, Computed: true, Deprecated: "It is the same for everything.",
		},
		"part": {
			Type:       schema.TypeList,
			Optional:   true,
			Deprecated: "Parts are a thing of the past.",
			Elem: &schema.Resource{Schema: map[string]*schema.Schema{
				"size":  {Type: schema.TypeInt, Optional: true, Deprecated: "Sizes do not count."},
				"color": {Type: schema.TypeString, Optional: true},
			}},
		},
	}}
	resource := kind.resource()
	resource.DeprecationMessage = "Use the resource type basic instead."
	return resource
}

// flaky is a resource type whose calls fail on request.
func flaky(partial bool) *schema.Resource {
	return kind{partial: partial, schema: map[string]*schema.Schema{
		"name":  name(),
		"text":  {Type: schema.TypeString, Optional: true},
		"words": {Type: schema.TypeList, Optional: true, Elem: of(schema.TypeString)},
		"part": {
			Type:     schema.TypeSet,
			Optional: true,
			Elem: &schema.Resource{Schema: map[string]*schema.Schema{
				"size": {Type: schema.TypeInt, Optional: true},
			}},
		},
	}}.resource()
}

// secret has write-only attributes, at the top and in a block.
func secret() *schema.Resource {
	kind := kind{schema: map[string]*schema.Schema{
		"name": name(),
		"password": {
			Type: schema.TypeString, Optional: true, Sensitive: true, ConflictsWith: []string{"password_wo"},
		},
		"password_wo":         {Type: schema.TypeString, Optional: true, WriteOnly: true},
		"password_wo_version": {Type: schema.TypeInt, Optional: true, RequiredWith: []string{"password_wo"}},
		"length":              {Type: schema.TypeInt, Computed: true},
		"login": {
			Type:     schema.TypeList,
			Optional: true,
			MaxItems: 2,
			Elem: &schema.Resource{Schema: map[string]*schema.Schema{
				"user":   {Type: schema.TypeString, Required: true},
				"key_wo": {Type: schema.TypeString, Optional: true, WriteOnly: true},
			}},
		},
	}}
	kind.fill = func(object world.Object, d *schema.ResourceData) {
		delete(object, "password_wo")
		object["length"] = 0
		if value := d.GetRawConfig().GetAttr("password_wo"); !value.IsNull() {
			object["length"] = len(value.AsString())
		}
	}
	resource := kind.resource()
	resource.ValidateRawResourceConfigFuncs = []schema.ValidateRawResourceConfigFunc{preferWriteOnly()}
	return resource
}

// identified has an identity, which it sets whenever it reads.
func identified() *schema.Resource {
	kind := kind{schema: map[string]*schema.Schema{
		"name": name(),
		"text": {Type: schema.TypeString, Optional: true},
	}}
	resource := kind.resource()
	resource.Identity = &schema.ResourceIdentity{
		Version: 1,
		SchemaFunc: func() map[string]*schema.Schema {
			return map[string]*schema.Schema{
				"id": {Type: schema.TypeString, RequiredForImport: true},
			}
		},
	}
	resource.Importer = &schema.ResourceImporter{StateContext: schema.ImportStatePassthroughWithIdentity("id")}
	resource.CreateContext = identifying(kind.create)
	resource.ReadContext = identifying(kind.read)
	resource.UpdateContext = identifying(kind.update)
	return resource
}

type operation = func(context.Context, *schema.ResourceData, any) diag.Diagnostics

// identifying sets the identity of an object after an operation.
func identifying(operate operation) operation {
	return func(ctx context.Context, d *schema.ResourceData, meta any) diag.Diagnostics {
		said := operate(ctx, d, meta)
		if identity, err := d.Identity(); err == nil && d.Id() != "" {
			_ = identity.Set("id", d.Id())
		}
		return said
	}
}
