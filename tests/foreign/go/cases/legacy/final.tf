#= apply
resource "legacy_diff" "a" {
  name = "a"
  size = 3
}
#= run apply -input=false -auto-approve
resource "legacy_diff" "late" {
  name = "late"
}
resource "legacy_diff" "a" {
  name = "a"
  size = legacy_diff.late.id == "" ? 5 : 1
}
#= run apply -input=false -auto-approve
