# Sensitive values whole and in part, and a change of nothing but sensitivity.
#= apply
resource "terraform_data" "whole" {
  input = sensitive("secret")
}
resource "terraform_data" "part" {
  input = { open = "o", shut = sensitive("s"), list = [1, sensitive(2)] }
}
resource "terraform_data" "whole_list" {
  input = sensitive(["a", "b"])
}
resource "terraform_data" "trigger" {
  triggers_replace = sensitive("t")
}
resource "terraform_data" "passed_on" {
  input = terraform_data.part.output.shut
}
#= plan
#= plan
resource "terraform_data" "whole" {
  input = "secret"
}
resource "terraform_data" "part" {
  input = { open = sensitive("o"), shut = "s", list = [sensitive(1), 2] }
}
resource "terraform_data" "whole_list" {
  input = sensitive(["a", "c"])
}
resource "terraform_data" "trigger" {
  triggers_replace = sensitive("other")
}
resource "terraform_data" "passed_on" {
  input = nonsensitive(terraform_data.part.output.shut)
}
