# One instance reads another; all of them; with splats, indices, and keys that are computed.
#= apply
resource "terraform_data" "a" {
  count = 3
  input = count.index
}
resource "terraform_data" "b" {
  count = length(terraform_data.a)
  input = terraform_data.a[count.index].id
}
resource "terraform_data" "c" {
  input = terraform_data.a[*].id
}
resource "terraform_data" "d" {
  input = [for one in terraform_data.a : one.output if one.output > 0]
}
resource "terraform_data" "e" {
  input = terraform_data.a[1].output
}
resource "terraform_data" "f" {
  for_each = { for index, one in terraform_data.a : "k${index}" => one }
  input    = each.value.output
}
#= plan
