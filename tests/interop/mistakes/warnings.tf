# Warnings: of deprecated forms, of the language and of values.
#= file base.tf
terraform {
  required_providers {
    test = {
      source = "formwork/test"
    }
  }
}
#= validate
provider "test" {
  version = "1.0.0"
}
provider "null" {
  version = "~> 1"
}
variable "a" {
  type = "string"
}
variable "b" {
  type = "list"
}
variable "c" {
  type = "map"
}
variable "d" {
  type = list
}
variable "e" {
  type = map
}
variable "f" {
  type = set
}
resource "terraform_data" "a" {
  depends_on = ["terraform_data.b"]
  lifecycle {
    ignore_changes = ["input", "triggers_replace"]
  }
}
resource "terraform_data" "b" {
  input = "${var.a}"
  provisioner "local-exec" {
    when    = "destroy"
    command = "x"
  }
  lifecycle {
    ignore_changes = "all"
  }
}
resource "terraform_data" "c" {
  lifecycle {
    ignore_changes = ["*"]
  }
}
resource "terraform_data" "d" {
  provider = "terraform"
}
#= validate
resource "terraform_data" "c" {
  lifecycle {
    ignore_changes = [id, output]
  }
}
resource "terraform_data" "d" {
  input = "${terraform_data.c.id}"
  lifecycle {
    ignore_changes = [output[0], input]
  }
}
check "empty" {
}
module "m" {
  source = "./mod"
  providers = {
    null.x = null
    nope   = test
  }
}
#= file mod/main.tf
provider "test" {
}
terraform {
  backend "local" {
  }
}
#= validate
module "m" {
  source = "./mod"
  providers = {
    test = test
  }
}
terraform {
  experiments = [module_variable_optional_attrs]
}
#= file terraform.tfvars
nope  = 1
nope2 = 2
#= plan
variable "a" {
  default = 1
}
output "a" {
  value = "${var.a}"
}
