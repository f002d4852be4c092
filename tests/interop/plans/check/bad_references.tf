#= validate
check "a" {
  assert {
    condition     = terraform_data.gone.id == ""
    error_message = "x"
  }
  assert {
    condition     = self.id == ""
    error_message = "x"
  }
  assert {
    condition     = each.key == "" || count.index == 1
    error_message = "x"
  }
}
