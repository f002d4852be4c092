#= apply
resource "test_thing" "a" {
  for_each = toset(["x", "y", "z"])
  name     = each.key
}
output "o" {
  value = test_thing.a["x"].id
}
#= run state mv -no-color -state-out=other.tfstate test_thing.a["x"] test_thing.b
#= run state list -state=other.tfstate
#= run state mv -no-color -state-out=other.tfstate test_thing.a["y"] test_thing.a["y"]
#= run state mv -no-color -state-out=other.tfstate test_thing.a["z"] test_thing.b
#= run state mv -no-color -state=other.tfstate test_thing.b test_thing.c
#= run state list -state=other.tfstate
#= run state mv -no-color -state=other.tfstate -state-out=terraform.tfstate test_thing.c test_thing.a["x"]
#= plan
#= run state rm -no-color -dry-run test_thing.a["x"]
#= run state rm -no-color test_thing.a["x"] test_thing.a["q"]
#= run state rm -no-color test_thing.a
#= run state rm -no-color test_thing.a
#= plan
