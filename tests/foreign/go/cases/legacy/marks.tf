# A sensitive key of a map that is absent from the refreshed object hides nothing else.
#= apply
variable "v" {
  default   = "s"
  sensitive = true
}
resource "legacy_basic" "a" {
  name = "a"
  tags = { k = var.v }
}
#= world a-1 'tags={"other":"x"}'
#= plan
#= apply -refresh-only
