#= apply
resource "test_thing" "a" {
  for_each = toset(["x", "y"])
  name     = "a${each.key}"
}
resource "test_thing" "b" {
  name       = "b"
  depends_on = [test_thing.a["x"]]
}
resource "test_thing" "c" {
  name       = "c"
  depends_on = [test_thing.a["gone"], test_thing.b]
}
#< create ax, create b, create c
#= plan
#= apply -destroy
#< delete c-1, delete b-1, delete ax-1
