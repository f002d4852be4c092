# comment
resource "a" "b" {
  value = "x${a.b[0]}-%{ if true ~} y %{ endif }"
  for_each = { for k, v in { a = 1 } : k => v... if v > 0 }
  type = object({ a = optional(list(string), ["x"]) })
  dynamic "c" {
    for_each = [1]
    content { value = c.value }
  }
  lifecycle {}
}
locals { value = <<-EOT
    a
      ${1 + 2 * -3}
  EOT
}
