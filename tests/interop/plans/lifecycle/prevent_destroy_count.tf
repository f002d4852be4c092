# One instance of several.
#= apply
resource "terraform_data" "a" {
  count = 2
  lifecycle {
    prevent_destroy = true
  }
}
#= plan
resource "terraform_data" "a" {
  count = 1
  lifecycle {
    prevent_destroy = true
  }
}
