# Keys of instances in `depends_on`: each is accepted, whether or not it exists, if it is constant.
#= file m/main.tf
resource "terraform_data" "i" {
}
output "o" {
  value = terraform_data.i.id
}
#= validate
resource "terraform_data" "a" {
  for_each = toset(["x", "y"])
}
resource "terraform_data" "b" {
  count = 2
}
resource "terraform_data" "c" {
  depends_on = [terraform_data.a["x"], terraform_data.b[0]]
}
resource "terraform_data" "d" {
  depends_on = [terraform_data.a["zz"], terraform_data.b[7], terraform_data.b["x"], terraform_data.a[0]]
}
output "o" {
  value      = 1
  depends_on = [terraform_data.a["x"], terraform_data.b[1]]
}
#= plan
#= validate
locals {
  k = "x"
}
resource "terraform_data" "a" {
  for_each = toset(["x", "y"])
}
resource "terraform_data" "b" {
  count = 2
}
resource "terraform_data" "c" {
  depends_on = [terraform_data.a[local.k], terraform_data.b[*], terraform_data.b[1 + 1], terraform_data.b[-1]]
}
resource "terraform_data" "d" {
  depends_on = [terraform_data.b["a${1}"], terraform_data.b[count.index], "terraform_data.b"]
}
#= validate
resource "terraform_data" "a" {
  for_each = toset(["x", "y"])
}
resource "terraform_data" "b" {
  count = 2
}
resource "terraform_data" "c" {
  depends_on = [terraform_data.a.x, terraform_data.b[0].id, terraform_data.b[1].id.x, terraform_data.b.0.id]
}
resource "terraform_data" "d" {
  depends_on = [terraform_data.b.0, terraform_data.b[0], terraform_data.b[0],]
}
output "o" {
  value      = 1
  depends_on = [terraform_data.b[0].id]
}
#= validate
resource "terraform_data" "q" {
  count = 2
}
resource "terraform_data" "a" {
  depends_on = [terraform_data.q[null]]
}
resource "terraform_data" "b" {
  depends_on = [terraform_data.q[true]]
}
#= validate
resource "terraform_data" "q" {
  count = 2
}
resource "terraform_data" "c" {
  depends_on = [terraform_data.q[1.5]]
}
resource "terraform_data" "e" {
  depends_on = [terraform_data.q[99999999999999999999]]
}
resource "terraform_data" "f" {
  depends_on = [terraform_data["q"]]
}
#= validate
module "m" {
  source = "./m"
  count  = 2
}
module "p" {
  source     = "./m"
  depends_on = [module.m[0]]
}
resource "terraform_data" "q" {
  depends_on = [module.m[5], module.p[0], module.p]
}
#= plan
#= validate
module "m" {
  source = "./m"
  count  = 2
}
module "n" {
  source     = "./m"
  depends_on = [module.m[0], module.m[0].o, module.m["x"]]
}
resource "terraform_data" "q" {
  depends_on = [module.n[0], terraform_data.q, terraform_data.q[0], terraform_data.gone[0], module.gone[0]]
}
#= validate
resource "terraform_data" "q" {
  count = 2
}
resource "terraform_data" "d" {
  depends_on = [terraform_data.q["a"]["b"]]
}
