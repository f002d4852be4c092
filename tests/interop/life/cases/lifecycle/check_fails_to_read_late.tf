#= apply
resource "test_thing" "a" {
  name = "a"
}
check "c" {
  data "test_data" "d" {
    name  = test_thing.a.id
    fails = "boo"
  }
  assert {
    condition     = data.test_data.d.result == "other"
    error_message = "Not this one."
  }
}
#= plan
