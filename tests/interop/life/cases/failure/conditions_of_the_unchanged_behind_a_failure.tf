#= apply
variable "want" {
  default = "x"
}
resource "test_thing" "a" {
  name = "a"
}
resource "test_thing" "behind" {
  count = 2
  name  = "behind-${count.index}"
  value = test_thing.a.id
  lifecycle {
    precondition {
      condition     = var.want == "x"
      error_message = "Not x."
    }
  }
}
resource "test_thing" "behind_by_condition" {
  name = "condition"
  lifecycle {
    postcondition {
      condition     = self.name != test_thing.a.id
      error_message = "The name of another."
    }
  }
}
resource "test_thing" "apart" {
  name = "apart"
  lifecycle {
    precondition {
      condition     = var.want == "x"
      error_message = "Not x."
    }
  }
}
#= fail update a-1
#= apply
variable "want" {
  default = "x"
}
resource "test_thing" "a" {
  name = "a"
  list = ["x"]
}
resource "test_thing" "behind" {
  count = 2
  name  = "behind-${count.index}"
  value = test_thing.a.id
  lifecycle {
    precondition {
      condition     = var.want == "x"
      error_message = "Not x."
    }
  }
}
resource "test_thing" "behind_by_condition" {
  name = "condition"
  lifecycle {
    postcondition {
      condition     = self.name != test_thing.a.id
      error_message = "The name of another."
    }
  }
}
resource "test_thing" "apart" {
  name = "apart"
  lifecycle {
    precondition {
      condition     = var.want == "x"
      error_message = "Not x."
    }
  }
}
#= fail
#= apply
