#= apply
resource "test_thing" "a" {
  name = "a"
  lifecycle {
    create_before_destroy = true
  }
}
#= fail delete a-1
#= apply -replace test_thing.a
#~ .apply.state.resources[0].instances[: an object whose end fails stays what it was
#= run taint -no-color test_thing.a
#~ .run.state.resources[0].instances[: an object whose end fails stays what it was
#= plan
#= run untaint -no-color test_thing.a
#~ .run.state.resources[0].instances[: an object whose end fails stays what it was
#= plan
#= run taint -no-color test_thing.a
#~ .run.state.resources[0].instances[: an object whose end fails stays what it was
#= run taint -no-color test_thing.b
#~ .run.state.resources[0].instances[: an object whose end fails stays what it was
#= run taint -no-color -allow-missing test_thing.b
#~ .run.state.resources[0].instances[: an object whose end fails stays what it was
#= fail
#= apply
#= plan
#= apply -destroy
