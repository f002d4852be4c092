# A count that is not known yet is refused.
#= plan
resource "terraform_data" "a" {
}
resource "terraform_data" "b" {
  count = terraform_data.a.id == "x" ? 1 : 2
}
