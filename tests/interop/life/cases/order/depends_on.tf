#= apply
resource "test_thing" "a" {
  name   = "a"
}
resource "test_thing" "b" {
  name   = "b"
  depends_on = [test_thing.a]
}
resource "test_thing" "c" {
  name   = "c"
  depends_on = [test_thing.b]
}
#= apply
#< update a-1, update c-1
resource "test_thing" "a" {
  name   = "a"
  list   = ["x"]
}
resource "test_thing" "b" {
  name   = "b"
  depends_on = [test_thing.a]
}
resource "test_thing" "c" {
  name   = "c"
  depends_on = [test_thing.b]
  list   = ["x"]
}
#= apply -destroy
#< delete c-1, delete b-1, delete a-1
