#= apply
terraform {
  required_providers {
    time  = { source = "hashicorp/time" }
    local = { source = "hashicorp/local" }
  }
}
output "moment" {
  value = provider::time::rfc3339_parse("2023-07-25T23:43:16Z")
}
output "timestamp" {
  value = provider::time::unix_timestamp_parse(1690328596)
}
output "duration" {
  value = provider::time::duration_parse("1h30m")
}
output "there" {
  value = provider::local::direxists(path.module)
}
output "not_there" {
  value = provider::local::direxists("${path.module}/nowhere")
}
#= plan
terraform {
  required_providers {
    local = { source = "hashicorp/local" }
    time  = { source = "hashicorp/time" }
  }
}
output "file" {
  value = provider::local::direxists("main.tf")
}
output "text" {
  value = provider::time::rfc3339_parse("yesterday")
}
