#= plan
resource "test_thing" "a" {
  name   = "a"
  depends_on = [test_thing.a]
}
