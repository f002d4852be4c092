#= validate
output "a" {
  value = local.x
}
output "b" {
  value = foo()
}
output "c" {
  value = upper(1, 2)
}
output "d" {
  value = [local.y, terraform_data.z.id]
}
#= validate
check "c" {
  assert {
    condition = true
  }
}
resource "terraform_data" "a" {
  lifecycle {
    precondition {
      condition = true
    }
  }
}
