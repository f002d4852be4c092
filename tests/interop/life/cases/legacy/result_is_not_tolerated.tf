#= apply
#~ .apply.said[0][2]: a place is named where Terraform names none
resource "test_legacy" "unknown" {
  name   = "unknown"
  breaks = "unknown"
}

#= apply
#~ .apply.said[0][2]: a place is named where Terraform names none
resource "test_legacy" "list" {
  name   = "list"
  breaks = "unset list"
}

#= apply
#~ .plan.view.resource_changes[1].change.before: Terraform plans the end of an orphan before it reads it
resource "test_legacy" "a" {
  name = "a"
}

#= apply
#~ .apply.said[0][2]: a place is named where Terraform names none
resource "test_legacy" "a" {
  name   = "a"
  breaks = "unknown"
}
