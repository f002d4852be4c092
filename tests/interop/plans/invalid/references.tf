# Names that mean nothing.
#= plan
output "a" {
  value = var.missing
}
output "b" {
  value = local.missing
}
output "c" {
  value = terraform_data.missing.id
}
output "d" {
  value = data.terraform_remote_state.missing.outputs
}
output "e" {
  value = module.missing.x
}
output "g" {
  value = nonesuch
}
output "h" {
  value = each.value
}
output "i" {
  value = count.index
}
output "j" {
  value = path.missing
}
output "k" {
  value = terraform.missing
}
output "l" {
  value = self.x
}
resource "terraform_data" "a" {
}
#= plan
resource "terraform_data" "a" {
}
output "a" {
  value = terraform_data.a["output"]
}
output "b" {
  value = terraform_data.a[0].id
}
output "c" {
  value = terraform_data
}
#= plan
resource "terraform_data" "a" {
}
output "f" {
  value = terraform_data.a.nonesuch
}
