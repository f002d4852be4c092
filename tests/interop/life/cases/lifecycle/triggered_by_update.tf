#= apply
resource "test_thing" "a" {
  name   = "a"
}
resource "test_thing" "b" {
  name   = "b"
  lifecycle {
    replace_triggered_by = [test_thing.a]
  }
}
#= apply
#< update a-1, create b
resource "test_thing" "a" {
  name   = "a"
  list   = ["x"]
}
resource "test_thing" "b" {
  name   = "b"
  lifecycle {
    replace_triggered_by = [test_thing.a]
  }
}
#= apply
#= apply -replace=test_thing.a
