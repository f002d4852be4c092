# What must not be destroyed is neither deleted nor replaced.
#= apply
resource "terraform_data" "a" {
  input = 1
  lifecycle {
    prevent_destroy = true
  }
}
#= plan
resource "terraform_data" "a" {
  triggers_replace = 1
  lifecycle {
    prevent_destroy = true
  }
}
#= plan -destroy
#= plan
locals {}
