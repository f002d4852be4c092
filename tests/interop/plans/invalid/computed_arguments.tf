# Arguments that the provider decides.
#= plan
resource "terraform_data" "a" {
  output = 1
}
#= plan
resource "terraform_data" "a" {
  id = "x"
}
