# What is known of results whose arguments are not.
#= plan
resource "terraform_data" "a" {
  count = 2
  input = "x"
}
output "o" {
  value = {
    length    = length(terraform_data.a[*].id)
    null      = terraform_data.a[0].id == null
    coalesce  = coalesce(terraform_data.a[0].id, "x")
    prefix    = startswith("pre-${terraform_data.a[0].id}", "pre-")
    keys      = keys({ (terraform_data.a[0].id) = 1 })
    merge     = merge({ a = 1 }, { b = terraform_data.a[0].id })
    join      = join("-", ["a", terraform_data.a[0].id])
    upper     = upper(terraform_data.a[0].id)
    choice    = terraform_data.a[0].id == "x" ? "a" : "a"
    list      = terraform_data.a[0].id == "x" ? ["a"] : ["b"]
    try       = try(terraform_data.a[0].id, "x")
    json      = jsonencode({ a = terraform_data.a[0].id })
    concat    = concat([1], [terraform_data.a[0].id])
    set       = length(toset([terraform_data.a[0].id, "b"]))
    and       = false && terraform_data.a[0].id == "x"
    or        = true || terraform_data.a[0].id == "x"
    format    = format("%s-%s", "a", terraform_data.a[0].id)
    split     = split("-", terraform_data.a[0].id)
    for       = [for one in terraform_data.a : one.id]
    filtered  = [for one in terraform_data.a : one.input if one.id != "x"]
    index     = [1, 2][terraform_data.a[0].output == "x" ? 0 : 1]
    attribute = terraform_data.a[0].output
  }
}
