# Values of for_each may be sensitive, when the keys are not.
#= apply
resource "terraform_data" "a" {
  for_each = { a = sensitive(1), b = 2 }
  input    = each.value
}
#= plan
