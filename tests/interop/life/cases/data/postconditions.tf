#= apply
resource "test_thing" "a" {
  name = "a"
}
data "test_data" "d" {
  name = "d"
  lifecycle {
    postcondition {
      condition     = self.result == "data of d"
      error_message = "Not that one: ${self.result}."
    }
  }
}
resource "test_thing" "user" {
  name  = "user"
  value = data.test_data.d.result
}
#= plan
data "test_data" "d" {
  name = "e"
  lifecycle {
    postcondition {
      condition     = self.result == "data of d"
      error_message = "Not that one: ${self.result}."
    }
  }
}
resource "test_thing" "user" {
  name  = "user"
  value = data.test_data.d.result
}
#= apply
resource "test_thing" "b" {
  name = "b"
}
data "test_data" "d" {
  name = test_thing.b.name
  value = test_thing.b.id
  lifecycle {
    precondition {
      condition     = test_thing.b.id != "b-1"
      error_message = "Not b-1."
    }
    postcondition {
      condition     = self.echo == "b-2"
      error_message = "Not that one."
    }
  }
}
resource "test_thing" "user" {
  name  = "user"
  value = data.test_data.d.result
}
#= apply
resource "test_thing" "b" {
  name = "b"
}
data "test_data" "d" {
  name = test_thing.b.name
  lifecycle {
    postcondition {
      condition     = test_thing.b.id == "b-1"
      error_message = "Not that one."
    }
  }
}
resource "test_thing" "user" {
  name  = "user"
  value = data.test_data.d.result
}
#= plan -destroy
#= plan -refresh-only
#= apply -destroy
