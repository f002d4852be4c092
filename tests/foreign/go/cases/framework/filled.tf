#= apply
resource "framework_filled" "least" {
  name = "least"
}
resource "framework_filled" "full" {
  name   = "full"
  single = { key = "k" }
  list   = [{ key = framework_filled.least.results[0].key }]
  set    = [{ key = "a" }, { key = "b", note = "n" }]
  map    = { m = { key = "k" } }
}
output "single" {
  value     = framework_filled.least.single
  sensitive = true
}
#= plan
#= apply
resource "framework_filled" "least" {
  name   = "least"
  single = { key = "changed", size = 4 }
}
resource "framework_filled" "full" {
  name = "full"
  list = []
  set  = [{ key = "b" }]
}
