#= apply
terraform {
  provider_meta "legacy" {
    module = "root"
  }
}
resource "legacy_block" "a" {
  name = "a"
  rule {
    port  = 1
    hosts = ["x", "y"]
  }
}
data "legacy_lookup" "a" {
  of = legacy_block.a.id
}
data "legacy_echo" "a" {
  filter {
    key    = "b"
    values = ["1"]
  }
  filter {
    key    = "a"
    values = []
    exact  = true
  }
}
output "rule" {
  value = data.legacy_lookup.a.rule
}
#= plan
terraform {
  provider_meta "legacy" {
    module = "root"
  }
}
resource "legacy_block" "a" {
  name = "a"
  text = "changed"
}
data "legacy_lookup" "a" {
  of = legacy_block.a.id
}
data "legacy_echo" "a" {
  text = data.legacy_lookup.a.name
  dynamic "filter" {
    for_each = toset(data.legacy_lookup.a.rule[*].port)
    content {
      key    = filter.value
      values = [filter.key]
    }
  }
}
#= plan
data "legacy_lookup" "a" {
  of = "nothing"
}
