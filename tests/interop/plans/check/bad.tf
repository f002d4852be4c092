#= validate
check "a" {
}
check "b" {
  assert {
    condition     = true
    error_message = "x"
  }
}
check "c" {
  data "terraform_remote_state" "x" {
  }
  data "terraform_remote_state" "y" {
  }
  assert {
    condition     = path.root == ""
    error_message = "x"
  }
  foo = 1
}
check "d e" {
  data "terraform_remote_state" "z" {
    count = 1
    lifecycle {
    }
  }
  assert {
    condition = path.root == ""
  }
}
check {
}
check "f" {
  data "terraform_remote_state" "w" {
  }
  assert {
    condition     = path.root == ""
    error_message = "x"
  }
}
data "terraform_remote_state" "w" {
}
