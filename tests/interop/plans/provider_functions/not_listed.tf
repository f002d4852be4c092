#= validate
terraform {
  required_providers {
    random = { source = "hashicorp/random" }
  }
}
output "o" {
  value = provider::time::rfc3339_parse("2020-01-01T00:00:00Z")
}
output "p" {
  value = provider::terraform::encode_expr(1)
}
output "q" {
  value = provider::random::nothing()
}
