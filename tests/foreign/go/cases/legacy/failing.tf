#= fail create a late, create b
#= apply
resource "legacy_flaky" "a" {
  name = "a"
  part {
    size = 1
  }
}
resource "legacy_flaky" "b" {
  name = "b"
}
resource "legacy_flaky" "c" {
  name = "c"
  text = legacy_flaky.b.id
}
resource "legacy_partial" "p" {
  name = "p"
}
#= fail nothing
#= plan
#= apply
#= fail update a, update p
#= apply
resource "legacy_flaky" "a" {
  name  = "a"
  text  = "changed"
  words = ["x"]
}
resource "legacy_flaky" "b" {
  name = "b"
}
resource "legacy_flaky" "c" {
  name = "c"
  text = legacy_flaky.b.id
}
resource "legacy_partial" "p" {
  name  = "p"
  text  = "changed"
  words = ["x"]
  part {
    size = 2
  }
}
#= plan
#= fail delete a, delete b
#= apply -destroy
#= fail read b-1
#= plan
#= fail nothing
#= gone b-1
#= apply -refresh-only
#= apply -destroy
