#= apply
resource "terraform_data" "a" {
  count = 2
  input = count.index
}
resource "terraform_data" "b" {
  input = terraform_data.a[0].output
}
#= apply
removed {
  from = terraform_data.a
  lifecycle {
    destroy = false
  }
}
resource "terraform_data" "b" {
  input = 1
}
output "x" {
  value = 1
}
#= plan
