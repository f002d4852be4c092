#= apply
#~ .apply.said[0][2]: a place is named where Terraform names none
resource "test_thing" "late" {
  name = "late"
}
resource "test_legacy" "a" {
  name   = "a"
  note   = "lower"
  breaks = test_thing.late.id == "" ? "" : "plan"
}

#= apply
