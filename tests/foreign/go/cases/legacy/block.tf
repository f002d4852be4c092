#= apply
resource "legacy_block" "least" {
  name = "least"
}
resource "legacy_block" "full" {
  name = "full"
  rule {
    port = 80
  }
  rule {
    port     = 443
    protocol = "tls"
    note     = "mine"
    hosts    = ["b", "a"]
  }
  disk {
    size = 10
  }
  disk {
    size  = 20
    kind  = "ssd"
    label = "big"
    tags  = { a = "1" }
  }
  single {}
  fixed {
    size = 1
  }
  policy {
    ttl = 5
  }
  access {
    role    = "owner"
    members = [legacy_block.least.id]
  }
  range {
    from = 1
  }
  quiet {}
}
#= plan
#= apply
resource "legacy_block" "least" {
  name = "least"
  text = "changed"
}
resource "legacy_block" "full" {
  name = "full"
  rule {
    port  = 443
    hosts = ["b"]
  }
  disk {
    size  = 20
    kind  = "ssd"
    label = "small"
  }
  single {
    mode = "on"
  }
  fixed {
    size = 1
  }
}
#= plan
#= apply
resource "legacy_block" "full" {
  name = "full"
  fixed {
    size = 2
  }
  disk {
    size = 20
    kind = "hdd"
  }
}
#= apply -destroy
