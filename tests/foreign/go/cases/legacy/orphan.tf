# The end of an object that the configuration no longer has is planned from the stored object; a full
# destroy is planned from the refreshed one.
#= apply
resource "legacy_basic" "a" {
  name = "a"
  text = "x"
}
resource "legacy_basic" "b" {
  count = 2
  name  = "b${count.index}"
  text  = "x"
}
resource "legacy_basic" "c" {
  for_each = toset(["k"])
  name     = "c"
  text     = "x"
}
#= world a-1 'text=other'
#= world b0-1 'text=other'
#= world b1-1 'text=other'
#= world c-1 'text=other'
#= plan -destroy
#= apply
resource "legacy_basic" "b" {
  count = 1
  name  = "b${count.index}"
  text  = "x"
}
resource "legacy_basic" "c" {
  for_each = toset([])
  name     = "c"
  text     = "x"
}
