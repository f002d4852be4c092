#= apply
resource "test_thing" "a" {
  name = "a"
}
check "unknown_name" {
  data "test_data" "d" {
    name = test_thing.a.id
  }
  assert {
    condition     = data.test_data.d.result == "data of a-1"
    error_message = "Not a-1."
  }
}
check "depends" {
  data "test_data" "e" {
    name       = "e"
    depends_on = [test_thing.a]
  }
  assert {
    condition     = data.test_data.e.result == "data of e"
    error_message = "Not e."
  }
  assert {
    condition     = data.test_data.e.result == "data of f"
    error_message = "Not f."
  }
}
check "depends_and_fails" {
  data "test_data" "f" {
    name       = "f"
    fails      = "boo"
    depends_on = [test_thing.a]
  }
  assert {
    condition     = data.test_data.f.result == "data of f"
    error_message = "Not f."
  }
}
#= plan
#= plan -replace test_thing.a
#= apply -refresh-only
#= apply -destroy
