#= apply
resource "test_thing" "a" {
  name = "a"
}
check "c" {
  data "test_data" "d" {
    name  = "d"
    value = test_thing.a.id
  }
  assert {
    condition     = data.test_data.d.echo == "other"
    error_message = "Not this one."
  }
}
#= plan
#= apply
check "c" {
  data "test_data" "d" {
    name  = "d"
    fails = "always"
  }
  assert {
    condition     = data.test_data.d.echo == "other"
    error_message = "Not this one."
  }
}
