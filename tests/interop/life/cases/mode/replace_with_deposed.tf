#= apply
resource "test_thing" "a" {
  name = "a"
  lifecycle {
    create_before_destroy = true
  }
}
resource "test_thing" "b" {
  name  = "b"
  value = test_thing.a.id
}
#= fail delete a-1
#= apply -replace test_thing.a
#~ .apply.state.resources[0].instances[: an object whose end fails stays what it was
#= plan -replace test_thing.a
#= plan -replace test_thing.b
#= apply -replace test_thing.a
#~ .apply.state.resources[0].instances[: an object whose end fails stays what it was
#= plan -refresh=false
#= fail
#= plan -target test_thing.b
#= apply -replace test_thing.a -target test_thing.a
#= plan
#= apply -destroy
