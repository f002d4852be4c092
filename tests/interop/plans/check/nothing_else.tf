#= apply
check "c" {
  assert {
    condition     = path.module == "elsewhere"
    error_message = "here"
  }
}
output "o" {
  value = 1
}
#= plan
#= apply
output "o" {
  value = 1
}
