#= fail create b
#= apply
variable "want" {
  default = "x"
}
resource "test_thing" "a" {
  name = "a"
  lifecycle {
    precondition {
      condition     = var.want == "x"
      error_message = "Not x."
    }
  }
}
resource "test_thing" "b" {
  name = "b"
  lifecycle {
    precondition {
      condition     = var.want == "x"
      error_message = "Not x."
    }
  }
}
resource "test_thing" "c" {
  name  = "c"
  value = test_thing.b.id
  lifecycle {
    precondition {
      condition     = var.want == "x"
      error_message = "Not x."
    }
    postcondition {
      condition     = self.name == "c"
      error_message = "Not c."
    }
  }
}
resource "test_thing" "none" {
  count = 0
  name  = "none"
  lifecycle {
    precondition {
      condition     = var.want == "x"
      error_message = "Not x."
    }
  }
}
output "known" {
  value = test_thing.b.name
  precondition {
    condition     = var.want == "x"
    error_message = "Not x."
  }
}
output "late" {
  value = test_thing.b.id
  precondition {
    condition     = test_thing.b.name == "b"
    error_message = "Not b."
  }
}
check "known" {
  assert {
    condition     = test_thing.c.name == "c"
    error_message = "Not c."
  }
}
check "apart" {
  assert {
    condition     = test_thing.a.name == "a"
    error_message = "Not a."
  }
}
#= fail
#= apply
