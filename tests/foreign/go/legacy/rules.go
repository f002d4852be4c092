package legacy

import (
	"fmt"
	"strings"

	"github.com/hashicorp/go-cty/cty"
	"github.com/hashicorp/terraform-plugin-sdk/v2/diag"
	"github.com/hashicorp/terraform-plugin-sdk/v2/helper/schema"
	"github.com/hashicorp/terraform-plugin-sdk/v2/helper/validation"
)

// rules has every validation that a schema can have.
func rules() *schema.Resource {
	both := []string{"first", "second"}
	some := []string{"one", "two"}
	return kind{schema: map[string]*schema.Schema{
		"name":   name(),
		"first":  {Type: schema.TypeString, Optional: true, ExactlyOneOf: both},
		"second": {Type: schema.TypeString, Optional: true, ExactlyOneOf: both},
		"one":    {Type: schema.TypeString, Optional: true, AtLeastOneOf: some},
		"two":    {Type: schema.TypeString, Optional: true, AtLeastOneOf: some},
		"left":   {Type: schema.TypeInt, Optional: true, ConflictsWith: []string{"right"}},
		"right":  {Type: schema.TypeInt, Optional: true, ConflictsWith: []string{"left"}},
		"user":   {Type: schema.TypeString, Optional: true, RequiredWith: []string{"host"}},
		"host":   {Type: schema.TypeString, Optional: true},
		"port":   {Type: schema.TypeInt, Optional: true, ValidateFunc: validation.IsPortNumber},
		"color": {
			Type: schema.TypeString, Optional: true,
			ValidateDiagFunc: validation.ToDiagFunc(validation.StringInSlice([]string{"red", "blue"}, false)),
		},
		"taste": {Type: schema.TypeString, Optional: true, ValidateDiagFunc: tasteful},
		"levels": {
			Type: schema.TypeMap, Optional: true, Elem: of(schema.TypeString), ValidateDiagFunc: levelled,
		},
		"sizes": {
			Type: schema.TypeList, Optional: true, MinItems: 1, MaxItems: 2,
			Elem: &schema.Schema{Type: schema.TypeInt, ValidateFunc: validation.IntAtLeast(1)},
		},
		"part": {
			Type: schema.TypeList, Optional: true, MaxItems: 2,
			Elem: &schema.Resource{Schema: map[string]*schema.Schema{
				"size":  {Type: schema.TypeInt, Required: true, ValidateFunc: validation.IntBetween(1, 9)},
				"taste": {Type: schema.TypeString, Optional: true, ValidateDiagFunc: tasteful},
			}},
		},
		"member": {
			Type: schema.TypeSet, Optional: true, MinItems: 2,
			Elem: &schema.Resource{Schema: map[string]*schema.Schema{
				"name": {Type: schema.TypeString, Required: true, ValidateFunc: validation.NoZeroValues},
			}},
		},
	}}.resource()
}

// tasteful refuses what is bitter and warns of what is sour.
func tasteful(value any, path cty.Path) diag.Diagnostics {
	switch value {
	case "bitter":
		return diag.Diagnostics{{
			Severity:      diag.Error,
			Summary:       "Bitter is not allowed",
			Detail:        "A taste is sweet, salty or sour. The one that is given here would be thrown away by everybody who has to eat it.",
			AttributePath: path,
		}}
	case "sour":
		return diag.Diagnostics{{
			Severity:      diag.Warning,
			Summary:       "Sour is not for everybody",
			Detail:        "Consider\n\n  taste = \"sweet\"\n\ninstead.",
			AttributePath: path,
		}}
	}
	return nil
}

// levelled refuses every key of a map that is not upper case.
func levelled(value any, path cty.Path) diag.Diagnostics {
	var said diag.Diagnostics
	for key := range value.(map[string]any) {
		if key != strings.ToUpper(key) {
			said = append(said, diag.Diagnostic{
				Severity:      diag.Error,
				Summary:       fmt.Sprintf("Key %q is not upper case", key),
				AttributePath: append(path.Copy(), cty.IndexStep{Key: cty.StringVal(key)}),
			})
		}
	}
	return said
}

func preferWriteOnly() schema.ValidateRawResourceConfigFunc {
	return validation.PreferWriteOnlyAttribute(cty.GetAttrPath("password"), cty.GetAttrPath("password_wo"))
}
