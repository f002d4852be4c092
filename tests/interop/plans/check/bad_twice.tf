#= validate
check "a" {
  assert {
    condition     = path.root == ""
    error_message = "x"
  }
}
check "a" {
  assert {
    condition     = path.root == ""
    error_message = "x"
  }
}
