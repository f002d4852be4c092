# Blocks of which a `dynamic` block makes too many.
#= file base.tf
terraform {
  required_providers {
    test = {
      source = "formwork/test"
    }
  }
}
variable "l" {
  type = list(string)
}
#= validate
resource "test_strict" "a" {
  needed = "a"
  one {
    needed = "a"
  }
  dynamic "one" {
    for_each = [var.l[0]]
    content {
      needed = one.value
    }
  }
  must {
    needed = "a"
  }
}
resource "test_strict" "b" {
  needed = "b"
  one {
    needed = "a"
  }
  dynamic "few" {
    for_each = { a = "x", b = "y", c = var.l[1] }
    content {
      needed = few.value
    }
  }
  must {
    needed = "a"
  }
}
resource "test_strict" "c" {
  needed = "c"
  one {
    needed = "a"
  }
  must {
    needed = "a"
  }
  dynamic "must" {
    for_each = ["a", "b"]
    content {
      needed = must.value
    }
  }
}
resource "test_strict" "d" {
  needed = "d"
  dynamic "one" {
    for_each = var.l
    content {
      needed = one.value
    }
  }
  one {
    needed = "a"
  }
  one {
    needed = "b"
  }
  dynamic "must" {
    for_each = var.l
    content {
      needed = must.value
    }
  }
}
