# Changes that are not to be noticed: some, all, and nested ones.
#= apply
resource "terraform_data" "some" {
  input            = 1
  triggers_replace = 1
  lifecycle {
    ignore_changes = [input]
  }
}
resource "terraform_data" "all" {
  input            = 1
  triggers_replace = 1
  lifecycle {
    ignore_changes = all
  }
}
resource "terraform_data" "nested" {
  input = { a = 1, b = 1 }
  lifecycle {
    ignore_changes = [input.a]
  }
}
resource "terraform_data" "index" {
  input = [1, 2]
  lifecycle {
    ignore_changes = [input[0]]
  }
}
resource "terraform_data" "key" {
  input = tomap({ a = 1, b = 1 })
  lifecycle {
    ignore_changes = [input["a"]]
  }
}
#= plan
resource "terraform_data" "some" {
  input            = 2
  triggers_replace = 1
  lifecycle {
    ignore_changes = [input]
  }
}
resource "terraform_data" "all" {
  input            = 2
  triggers_replace = 2
  lifecycle {
    ignore_changes = all
  }
}
resource "terraform_data" "nested" {
  input = { a = 2, b = 2 }
  lifecycle {
    ignore_changes = [input.a]
  }
}
resource "terraform_data" "index" {
  input = [3, 4]
  lifecycle {
    ignore_changes = [input[0]]
  }
}
resource "terraform_data" "key" {
  input = tomap({ a = 2, b = 2, c = 2 })
  lifecycle {
    ignore_changes = [input["a"], input["c"]]
  }
}
