# count and for_each exclude each other.
#= plan
resource "terraform_data" "a" {
  count    = 1
  for_each = toset(["a"])
}
