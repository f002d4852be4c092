package legacy

import (
	"context"
	"fmt"
	"sort"

	"github.com/hashicorp/terraform-plugin-sdk/v2/diag"
	"github.com/hashicorp/terraform-plugin-sdk/v2/helper/schema"

	"formwork.test/foreign/world"
)

// kind is a resource type whose objects are stored in the world as their attributes.
type kind struct {
	schema map[string]*schema.Schema
	// fill computes attributes of an object that is about to be stored.
	fill func(object world.Object, d *schema.ResourceData)
	// partial lets a failing update keep the prior state.
	partial bool
	// warns lets every change return a warning.
	warns bool
}

// resource returns the resource type with its four operations.
func (kind kind) resource() *schema.Resource {
	return &schema.Resource{
		Schema:        kind.schema,
		CreateContext: kind.create,
		ReadContext:   kind.read,
		UpdateContext: kind.update,
		DeleteContext: remove,
		Importer:      &schema.ResourceImporter{StateContext: schema.ImportStatePassthroughContext},
	}
}

func (kind kind) create(ctx context.Context, d *schema.ResourceData, meta any) diag.Diagnostics {
	name := d.Get("name").(string)
	moment := world.Fault("create " + name)
	if moment == world.Before {
		return failure("create", name)
	}
	object := kind.collect(d)
	id, err := world.Make(name, object)
	if err != nil {
		return diag.FromErr(err)
	}
	d.SetId(id)
	if moment == world.After {
		return failure("create", name)
	}
	return append(kind.warnings(name), kind.read(ctx, d, meta)...)
}

func (kind kind) read(_ context.Context, d *schema.ResourceData, _ any) diag.Diagnostics {
	if world.Fault("read "+d.Id()) != world.Never {
		return failure("read", d.Id())
	}
	object, err := world.Read(d.Id())
	if err != nil {
		return diag.FromErr(err)
	}
	if object == nil {
		d.SetId("")
		return nil
	}
	return set(d, kind.schema, object)
}

func (kind kind) update(ctx context.Context, d *schema.ResourceData, meta any) diag.Diagnostics {
	name := d.Get("name").(string)
	moment := world.Fault("update " + name)
	if moment == world.Before {
		d.Partial(kind.partial)
		return failure("update", name)
	}
	if err := world.Store(d.Id(), kind.collect(d)); err != nil {
		return diag.FromErr(err)
	}
	if moment == world.After {
		return failure("update", name)
	}
	return append(kind.warnings(name), kind.read(ctx, d, meta)...)
}

func remove(_ context.Context, d *schema.ResourceData, _ any) diag.Diagnostics {
	name, _ := d.Get("name").(string)
	if world.Fault("delete "+name) != world.Never {
		return failure("delete", name)
	}
	return diag.FromErr(world.Remove(d.Id()))
}

func (kind kind) warnings(name string) diag.Diagnostics {
	if !kind.warns {
		return nil
	}
	return diag.Diagnostics{{
		Severity: diag.Warning,
		Summary:  "Change is slow",
		Detail:   fmt.Sprintf("The service takes its time until %q is visible everywhere.", name),
	}}
}

func failure(call, name string) diag.Diagnostics {
	return diag.Errorf("cannot %s %q: the service is not available", call, name)
}

// collect returns the attributes of an object as the configuration and the plan have them.
func (kind kind) collect(d *schema.ResourceData) world.Object {
	object := world.Object{}
	for name := range kind.schema {
		object[name] = flatten(d.Get(name))
	}
	if kind.fill != nil {
		kind.fill(object, d)
	}
	return object
}

// set puts the attributes of an object into the state.
func set(d *schema.ResourceData, attributes map[string]*schema.Schema, object world.Object) diag.Diagnostics {
	names := make([]string, 0, len(object))
	for name := range object {
		if attribute, found := attributes[name]; found && !attribute.WriteOnly {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	for _, name := range names {
		if err := d.Set(name, object[name]); err != nil {
			return diag.FromErr(err)
		}
	}
	return nil
}

// flatten turns the sets in a value into lists.
func flatten(value any) any {
	switch value := value.(type) {
	case *schema.Set:
		return flatten(value.List())
	case []any:
		list := make([]any, 0, len(value))
		for _, element := range value {
			list = append(list, flatten(element))
		}
		return list
	case map[string]any:
		fields := map[string]any{}
		for name, element := range value {
			fields[name] = flatten(element)
		}
		return fields
	default:
		return value
	}
}
