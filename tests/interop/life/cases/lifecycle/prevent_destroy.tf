#= apply
resource "test_thing" "a" {
  name   = "a"
  forced = "1"
  lifecycle {
    prevent_destroy = true
  }
}
#= plan
resource "test_thing" "a" {
  name   = "a"
  forced = "2"
  lifecycle {
    prevent_destroy = true
  }
}
#= plan -destroy
#= run taint test_thing.a
#= plan
#= apply
locals {}
