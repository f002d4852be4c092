#= file m/main.tf
variable "x" {
}
output "y" {
  value = var.x
  precondition {
    condition = var.x != "a-1"
    error_message = "not ok"
  }
}
#= apply
resource "test_thing" "a" {
  name = "a"
}
module "m" {
  source = "./m"
  x = test_thing.a.id
}
#= plan
#= apply -replace=test_thing.a
