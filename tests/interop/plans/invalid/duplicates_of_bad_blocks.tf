#= validate
output "o" {
  description = "x"
}
output "o" {
  value = 1
}
output "o" {
  value = 2
}
module "m" {
}
module "m" {
  source = "./m"
}
module "m" {
  source = "./m"
}
module "n" {
  source = "a/b"
}
module "k" {
  source  = "./m"
  version = var.x
}
module "k" {
  source = "./m"
}
variable "v" {
  wrong = 1
}
variable "v" {
}
variable "1v" {
}
variable "1v" {
}
check "c" {
}
check "c" {
}
resource "terraform_data" "a" {
  count    = 1
  for_each = {}
}
resource "terraform_data" "a" {
}
output "p" {
  value      = 1
  depends_on = "a"
}
output "p" {
  value = 1
}
module "q" {
  source    = "./m"
  providers = 1
}
module "q" {
  source = "./m"
}
module "r" {
  source   = "./m"
  count    = 1
  for_each = {}
}
module "r" {
  source = "./m"
}
