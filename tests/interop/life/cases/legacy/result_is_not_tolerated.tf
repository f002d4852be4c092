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
resource "test_legacy" "a" {
  name = "a"
}

#= apply
#~ .apply.said[0][2]: a place is named where Terraform names none
resource "test_legacy" "a" {
  name   = "a"
  breaks = "unknown"
}
