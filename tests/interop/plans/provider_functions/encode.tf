#= apply
terraform {
  required_providers {
    terraform = { source = "terraform.io/builtin/terraform" }
  }
}

locals {
  value = {
    aaaa     = 1
    b        = { cc = "x", ddddd = [{ a = 1, bbb = 2 }, {}] }
    c        = []
    dddddd   = [[1], [{ z = 1 }]]
    e        = { f = {} }
    ffffffff = "x\ny\n"
    g        = 1.5e40
    hh       = true
    ii       = null
    j        = -1.25
  }
}
output "expr" {
  value = provider::terraform::encode_expr(local.value)
}
output "tfvars" {
  value = provider::terraform::encode_tfvars(local.value)
}
output "objects" {
  value = provider::terraform::encode_expr([{ a = 1, bb = 1 }, { a = [1, 2] }])
}
output "collections" {
  value = provider::terraform::encode_expr([[], {}, "a", tomap({ a = 1 }), toset([1, 2]), tolist([])])
}
output "escapes" {
  value = provider::terraform::encode_expr("a\tb\u0001\"\\é\u2028$${x}%%{y}$$%")
}
output "keys" {
  value = provider::terraform::encode_expr({ "for" = 1, "null" = 1, "a-b" = 1, "1a" = 1, "" = 1, "true" = 2, "é" = 1 })
}
output "primitives" {
  value = [provider::terraform::encode_expr(1), provider::terraform::encode_expr("x"), provider::terraform::encode_expr(false)]
}
output "secret" {
  value     = provider::terraform::encode_tfvars({ a = sensitive("x") })
  sensitive = true
}
output "there_and_back" {
  value = provider::terraform::decode_tfvars(provider::terraform::encode_tfvars(local.value))
}
#= plan
terraform {
  required_providers {
    terraform = { source = "terraform.io/builtin/terraform" }
  }
}
output "o0" {
  value = provider::terraform::encode_tfvars({ "b c" = 1 })
}
output "o1" {
  value = provider::terraform::encode_tfvars("x")
}
output "o2" {
  value = provider::terraform::encode_tfvars(null)
}
output "o3" {
  value = provider::terraform::encode_expr(null)
}
output "o4" {
  value = provider::terraform::encode_expr()
}
