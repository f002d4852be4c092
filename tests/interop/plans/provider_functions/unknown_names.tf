#= validate
terraform {
  required_providers {
    test      = { source = "formwork/test" }
    terraform = { source = "terraform.io/builtin/terraform" }
  }
}
output "o0" {
  value = provider::test::greetin("x")
}
output "o1" {
  value = provider::nobody::greeting("x")
}
output "o2" {
  value = provider::test("x")
}
output "o3" {
  value = foo::bar("x")
}
output "o4" {
  value = core::uppr("x")
}
output "o5" {
  value = provider::test::a::b("x")
}
output "o6" {
  value = core::a::b("x")
}
output "o7" {
  value = provider("x")
}
output "o8" {
  value = upperr("x")
}
output "o9" {
  value = greeting("x")
}
output "o10" {
  value = provider::TEST::greeting("x")
}
output "o11" {
  value = provider::random::x()
}
output "o12" {
  value = provider::terraform::encode_exp(1)
}
#= plan
