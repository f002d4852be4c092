# A part that a schema does not have never changes, and is no mistake where it would trigger a replacement.
#= apply
resource "terraform_data" "a" {
  input = 1
}
resource "terraform_data" "b" {
  lifecycle {
    replace_triggered_by = [terraform_data.a.nothing]
  }
}
#= apply
resource "terraform_data" "a" {
  input = 2
}
resource "terraform_data" "b" {
  lifecycle {
    replace_triggered_by = [terraform_data.a.nothing]
  }
}
