#= file m/main.tf
variable "at" {}
variable "ok" {
  default = true
}
variable "size" {
  default = 1
  validation {
    condition     = var.size < 5
    error_message = "Too large: ${var.size}."
  }
}
resource "test_thing" "a" {
  count = var.size
  name  = "${var.at}${count.index}"
  lifecycle {
    precondition {
      condition     = var.ok || count.index > 0
      error_message = "Not ok at ${count.index}."
    }
    postcondition {
      condition     = self.name != "y3"
      error_message = "No y3."
    }
  }
}
output "ids" {
  value = test_thing.a[*].id
  precondition {
    condition     = length(test_thing.a) != 2
    error_message = "Not two."
  }
}
#= apply
module "m" {
  source   = "./m"
  for_each = { x = 1, y = 3 }
  at       = each.key
  size     = each.value
}
#= plan
#= plan
module "m" {
  source   = "./m"
  for_each = { x = 1, y = 3 }
  at       = each.key
  size     = each.value
  ok       = each.key == "x"
}
#= plan
module "m" {
  source   = "./m"
  for_each = { x = 2, y = 4, z = 5 }
  at       = each.key
  size     = each.value
}
#= apply
module "m" {
  source   = "./m"
  for_each = { x = 2, y = 4 }
  at       = each.key
  size     = each.value
}
#= plan -destroy
#= plan -refresh-only
#~ .: Terraform looks at instances that are not there yet
#= apply -target 'module.m["x"].test_thing.a'
#= apply -destroy
