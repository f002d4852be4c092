#= validate
resource "terraform_data" "a" {
  lifecycle {
    precondition {
      condition     = terraform_data.a.id != ""
      error_message = "No."
    }
    postcondition {
      condition     = self.id != ""
      error_message = "Not ${terraform_data.a.id}."
    }
  }
}
#= validate
resource "terraform_data" "a" {
  for_each = { x = 1 }
  lifecycle {
    replace_triggered_by = [terraform_data.b[each.value]]
  }
}
resource "terraform_data" "b" {
  for_each = { x = 1 }
}
