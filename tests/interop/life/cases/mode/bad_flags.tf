#= plan -destroy -refresh-only
resource "test_thing" "a" {
  name   = "a"
}
#= plan -replace=test_thing.a -destroy
#= plan -refresh-only -refresh=false
#= plan -replace=module.m
#= plan -target=nonsense
#= plan -destroy -replace=test_thing.a
