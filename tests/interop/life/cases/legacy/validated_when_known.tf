#= apply
resource "test_thing" "late" {
  name = "late"
}
resource "test_legacy" "a" {
  name = "a"
  note = test_thing.late.id == "" ? "fine" : "refused"
}
