#= apply
resource "test_thing" "a" {
  name   = "a"
  forced = "1"
}
resource "test_thing" "b" {
  name   = "b"
  lifecycle {
    create_before_destroy = true
    replace_triggered_by  = [test_thing.a.id]
  }
}
#= apply
#< create a, create b, delete b-1, delete a-1
resource "test_thing" "a" {
  name   = "a"
  forced = "2"
}
resource "test_thing" "b" {
  name   = "b"
  lifecycle {
    create_before_destroy = true
    replace_triggered_by  = [test_thing.a.id]
  }
}
