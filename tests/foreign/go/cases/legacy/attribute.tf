#= apply
resource "legacy_attribute" "least" {
  name = "least"
}
resource "legacy_attribute" "blocks" {
  name = "blocks"
  peer {
    host = "b"
  }
  peer {
    host  = "a"
    ports = [2, 1]
    main  = true
  }
  hop {
    host = "first"
  }
  hop {
    host = "second"
  }
  range {
    name = "one"
  }
  outer {
    name = "o"
    inner {
      host = "i"
    }
  }
  within {
    name = "w"
    peer {
      host = "p"
    }
  }
  computed {}
}
resource "legacy_attribute" "values" {
  name  = "values"
  peer  = [{ host = "b", ports = null, main = null }]
  hop   = []
  range = [{ name = "one", cidr = null }]
  outer = [{ name = "o", inner = [{ host = "i", ports = [1], main = false }] }]
}
resource "legacy_attribute" "dynamic" {
  name = "dynamic"
  dynamic "peer" {
    for_each = toset(["x", legacy_attribute.least.id])
    content {
      host = peer.value
    }
  }
  dynamic "hop" {
    for_each = []
    content {
      host = hop.value
    }
  }
}
#= plan
#= apply
resource "legacy_attribute" "blocks" {
  name = "blocks"
  peer {
    host = "a"
  }
  hop {
    host = "second"
  }
}
resource "legacy_attribute" "values" {
  name = "values"
  peer = []
  hop  = [for host in ["x", "y"] : { host = host, ports = [1], main = true }]
}
resource "legacy_attribute" "least" {
  name = "least"
}
resource "legacy_attribute" "dynamic" {
  name = "dynamic"
  dynamic "peer" {
    for_each = toset(["x", legacy_attribute.least.id])
    content {
      host = peer.value
    }
  }
  dynamic "hop" {
    for_each = []
    content {
      host = hop.value
    }
  }
}
#= plan
#= apply -destroy
