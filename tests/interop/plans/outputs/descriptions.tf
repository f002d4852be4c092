# Descriptions, depends_on, preconditions.
#= apply
resource "terraform_data" "a" {
  input = 3
}
output "a" {
  description = "About a."
  value       = "x"
  depends_on  = [terraform_data.a]
}
output "b" {
  value = terraform_data.a.output
  precondition {
    condition     = terraform_data.a.output == 3
    error_message = "It is ${terraform_data.a.output}."
  }
}
#= plan
#= plan
resource "terraform_data" "a" {
  input = 4
}
output "b" {
  value = terraform_data.a.output
  precondition {
    condition     = terraform_data.a.output == 3
    error_message = "It is ${terraform_data.a.output}."
  }
}
#= plan
resource "terraform_data" "a" {
  input = 3
}
output "b" {
  value = terraform_data.a.output
  precondition {
    condition     = terraform_data.a.output == 5
    error_message = "It is ${terraform_data.a.output}."
  }
}
