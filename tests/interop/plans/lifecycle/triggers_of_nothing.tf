#= apply
resource "terraform_data" "none" {
  count = 0
}
resource "terraform_data" "a" {
  lifecycle {
    replace_triggered_by = [terraform_data.none]
  }
}
#= plan
