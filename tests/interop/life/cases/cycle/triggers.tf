#= plan
resource "test_thing" "a" {
  name   = "a"
  lifecycle {
    replace_triggered_by = [test_thing.b]
  }
}
resource "test_thing" "b" {
  name   = "b"
  value  = test_thing.a.id
}
