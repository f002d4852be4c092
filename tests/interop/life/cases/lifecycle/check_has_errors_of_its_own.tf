#= apply
#~ .plan.said: Terraform says twice that the message is secret
resource "test_thing" "a" {
  name = "a"
}
check "divides" {
  assert {
    condition     = 1 / length(test_thing.a.list == null ? [] : ["x"]) == 1
    error_message = "No."
  }
}
check "null" {
  assert {
    condition     = test_thing.a.forced
    error_message = "No."
  }
}
check "message" {
  assert {
    condition     = test_thing.a.name == "b"
    error_message = "Not ${test_thing.a.id}."
  }
}
check "message_errs" {
  assert {
    condition     = test_thing.a.name == "b"
    error_message = "Not ${tonumber(test_thing.a.name)}."
  }
}
check "secret" {
  assert {
    condition     = test_thing.a.name == "b"
    error_message = "Not ${sensitive("x")}."
  }
}
check "secret_condition" {
  assert {
    condition     = sensitive(test_thing.a.name) == "b"
    error_message = "Not b."
  }
}
#= apply
check "message" {
  assert {
    condition     = "a" == "b"
    error_message = "Not b."
  }
}
#= plan -destroy
