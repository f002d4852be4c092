//! Tests of the references that are allowed in each context.

use expect_test::expect;

use super::check_outline;

#[test]
fn a_resource_cannot_refer_to_itself() {
    check_outline(
        r#"
resource "a_thing" "a" {
  for_each = { x = 1 }
  input    = a_thing.a
  lifecycle {
    replace_triggered_by = [a_thing.b[each.key]]
    precondition {
      condition     = a_thing.a["x"].ok
      error_message = "No."
    }
    postcondition {
      condition     = self.ok
      error_message = "Not ${a_thing.a["x"].ok}."
    }
  }
}
resource "a_thing" "b" {
  for_each = { x = 1 }
}
"#,
        &expect![[r#"
            error main.tf:7,23-40 Invalid reference in precondition
                Configuration for a_thing.a may not refer to itself.
            error main.tf:12,23-50 Invalid reference in postcondition
                Configuration for a_thing.a may not refer to itself. Here `self` is the object.
        "#]],
    );
}

#[test]
fn replace_triggered_by_accepts_only_each_key() {
    check_outline(
        r#"
resource "a_thing" "a" {
  for_each = { x = 1 }
  lifecycle {
    replace_triggered_by = [a_thing.b[each.value], a_thing.b[each.key]]
  }
}
resource "a_thing" "b" {
  for_each = { x = 1 }
}
"#,
        &expect![[r#"
            error main.tf:4,29-50 Invalid each reference in replace_triggered_by expression
                `each.value` cannot be used here. Only `each.key` is known before the objects are.
        "#]],
    );
}

/// References that lead nowhere, one of each kind.
const DANGLING_REFERENCES: &str = r#"
variable "size" {}
locals { name = 1 }
resource "x_y" "counted" { count = 2 }
resource "x_y" "each" { for_each = {} }
resource "x_y" "single" {
  depends_on = [x_y.none, x_y.counted[0], x_y.counted.id, var.size]
}
resource "x_y" "self" {
  count = 1
  input = x_y.self[0].id
}
resource "x_y" "alias" {
  provider = x.west
  input    = each.key
}
output "a" { value = x_y.counted.id }
output "b" { value = x_y.each.id }
output "c" { value = x_y.single[0].id }
output "d" { value = var.siz + local.nam }
output "e" { value = x_y.singel.id }
output "f" { value = data.x_y.single }
output "g" { value = [count.index, each.key] }
output "h" { value = module.m.x }
output "j" { value = [terraform.env, path.home, count.size, each.item, self.id, each.value] }
output "i" { value = [x_y.counted[*].id, x_y.each["a"].id, x_y.single.id, x_y.counted] }
"#;

#[test]
fn references_must_name_declared_objects() {
    // All together: one by one, each would cost a run.
    check_outline(
        DANGLING_REFERENCES,
        &expect![[r#"
            error main.tf:6,17-25 Reference to undeclared resource
                A managed resource "x_y" "none" has not been declared in the root module.
            error main.tf:6,43-54 Missing resource instance key
                Because x_y.counted has "count" set, its attributes must be accessed on specific instances.

                For example, to correlate with indices of a referring resource, use:
                    x_y.counted[count.index]
            error main.tf:6,54-57 Invalid depends_on reference
                References in depends_on must be to a whole object (resource, etc), not to an attribute of an object. The object is `x_y.counted`.
            error main.tf:10,11-19 Self-referential block
                Configuration for x_y.self may not refer to itself.
            error main.tf:12,1-23 Provider configuration not present
                To work with x_y.alias its original provider configuration at provider["registry.terraform.io/hashicorp/x"].west is required, but it has been removed. This occurs when a provider configuration is removed while objects created by that provider still exist in the state. Re-add the provider configuration to destroy x_y.alias, after which you can remove the provider configuration again. If the resource is new, no `provider` block has this name and alias, and no caller passes one.
            error main.tf:14,14-22 Reference to "each" in context without for_each
                The "each" object can be used only in "module" or "resource" blocks, and only when the "for_each" argument is set.
            error main.tf:16,22-33 Missing resource instance key
                Because x_y.counted has "count" set, its attributes must be accessed on specific instances.

                For example, to correlate with indices of a referring resource, use:
                    x_y.counted[count.index]
            error main.tf:17,22-30 Missing resource instance key
                Because x_y.each has "for_each" set, its attributes must be accessed on specific instances.

                For example, to correlate with indices of a referring resource, use:
                    x_y.each[each.key]
            error main.tf:18,22-35 Unexpected resource instance key
                Because x_y.single does not have "count" or "for_each" set, references to it must not include an index key. Remove the bracketed index to refer to the single instance of this resource.
            error main.tf:19,22-29 Reference to undeclared input variable
                An input variable with the name "siz" has not been declared. Did you mean "size"?
            error main.tf:19,32-41 Reference to undeclared local value
                A local value with the name "nam" has not been declared. Did you mean "name"?
            error main.tf:20,22-32 Reference to undeclared resource
                A managed resource "x_y" "singel" has not been declared in the root module. Did you mean `x_y.single`?
            error main.tf:21,22-37 Reference to undeclared resource
                A data resource "x_y" "single" has not been declared in the root module. Did you mean `x_y.single`?
            error main.tf:22,23-34 Reference to "count" in non-counted context
                The "count" object can only be used in "module", "resource", and "data" blocks, and only when the "count" argument is set.
            error main.tf:22,36-44 Reference to "each" in context without for_each
                The "each" object can be used only in "module" or "resource" blocks, and only when the "for_each" argument is set.
            error main.tf:23,22-32 Reference to undeclared module
                No module call named "m" is declared in the root module.
            error main.tf:24,23-36 Invalid "terraform" attribute
                The terraform.env attribute was deprecated in v0.10 and removed in v0.12. The "state environment" concept was renamed to "workspace" in v0.12, and so the workspace name can now be accessed using the terraform.workspace attribute.
            error main.tf:24,38-47 Invalid "path" attribute
                The "path" object does not have an attribute named "home". The supported attributes are path.cwd, path.module, and path.root.
            error main.tf:24,49-59 Invalid "count" attribute
                The "count" object does not have an attribute named "size". The only supported attribute is count.index, which is the index of each instance of a resource block that has the "count" argument set.
            error main.tf:24,61-70 Invalid "each" attribute
                The "each" object does not have an attribute named "item". The supported attributes are each.key and each.value, the current key and value pair of the "for_each" attribute set.
            error main.tf:24,72-76 Invalid "self" reference
                The "self" object is not available in this context. This object can be used only in resource provisioner, connection, and postcondition blocks.
            error main.tf:24,81-91 each.value cannot be used in this context
                A reference to "each.value" has been used in a context in which it is unavailable, such as when the configuration no longer contains the value in its "for_each" expression. Remove this reference to each.value in your configuration to work around this error.
        "#]],
    );
}

#[test]
fn references_must_have_a_valid_form() {
    check_outline(
        r#"
output "a" { value = foo }
output "b" { value = data.foo }
output "c" { value = var }
output "d" { value = var["x"] }
output "e" { value = template.x }
output "f" { value = path }
output "g" { value = foo["x"] }
output "h" { value = foo.a[0.5] }
output "i" { value = module.a[1e30].x }
"#,
        &expect![[r#"
            error main.tf:1,22-25 Invalid reference
                A reference to a resource type must be followed by at least one attribute access, specifying the resource name. Write `foo.NAME`, or "foo" for a string.
            error main.tf:2,22-30 Invalid reference
                The "data" object must be followed by two attribute names: the data source type and the resource name.
            error main.tf:3,22-25 Invalid reference
                The "var" object cannot be accessed directly. Instead, access one of its attributes.
            error main.tf:4,25-30 Invalid reference
                The "var" object does not support this operation. Name one of its attributes: `var.NAME`.
            error main.tf:5,22-30 Reserved symbol name
                The symbol name "template" is reserved for use in a future Formwork version. If you are using a provider that already uses this as a resource type name, add the prefix "resource." to force interpretation as a resource type name.
            error main.tf:6,22-26 Invalid reference
                The "path" object cannot be accessed directly. Instead, access one of its attributes.
            error main.tf:7,25-30 Invalid reference
                A reference to a resource type must be followed by at least one attribute access, specifying the resource name. Write `foo.NAME`, or "foo" for a string.
            error main.tf:8,27-32 Invalid index key
                The instances of `foo.a` are numbered from 0, so none of them can be number 0.5.
            error main.tf:9,30-36 Invalid index key
                The instances of `module.a` are numbered from 0, so none of them can be number 1000000000000000000000000000000.
        "#]],
    );
}
