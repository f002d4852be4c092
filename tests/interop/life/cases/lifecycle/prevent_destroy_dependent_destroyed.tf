#= apply
resource "test_thing" "a" {
  name   = "a"
  lifecycle {
    prevent_destroy = true
  }
}
resource "test_thing" "b" {
  name   = "b"
  value  = test_thing.a.id
}
#= apply -destroy -target=test_thing.b
#= apply -destroy
