#= text plan -input=false
resource "legacy_basic" "a" {
  name    = "a"
  text    = ""
  words   = ["", "a", ""]
  letters = ["", "b"]
  tags    = { a = "", b = "c" }
}
resource "legacy_attribute" "b" {
  name = "b"
  peer = [{ host = "", ports = [1], main = null }, { host = "x", ports = [], main = true }]
  hop  = [{ host = "", ports = null, main = false }, { host = "y", ports = [2], main = null }]
  outer {
    name  = ""
    inner = [{ host = "", ports = [], main = null }]
  }
  within {
    name = ""
    peer = [{ host = "", ports = [], main = null }]
  }
}
resource "legacy_block" "c" {
  name = "c"
  rule {
    port  = 1
    note  = ""
    hosts = ["", "x"]
  }
  disk {
    size = 1
    kind = ""
    tags = { a = "" }
  }
  single {
    mode = ""
  }
}
#= run apply -input=false -auto-approve
#= text show
#= text plan -input=false
resource "legacy_basic" "a" {
  name    = "a"
  words   = ["a", "", "c"]
  letters = ["", "c"]
  tags    = { a = "x", b = "", d = "" }
}
resource "legacy_attribute" "b" {
  name = "b"
  peer = [{ host = "z", ports = [1], main = null }, { host = "", ports = [], main = true }]
  hop  = [{ host = "q", ports = null, main = false }, { host = "", ports = [2], main = null }]
  outer {
    name  = "n"
    inner = [{ host = "", ports = [], main = true }]
  }
  within {
    name = ""
    peer = [{ host = "n", ports = [], main = null }, { host = "", ports = [], main = null }]
  }
}
resource "legacy_block" "c" {
  name = "c"
  rule {
    port  = 2
    note  = ""
    hosts = ["", "y"]
  }
  disk {
    size = 2
    kind = ""
    tags = { a = "" }
  }
  fixed {
    size = 1
  }
  single {
    mode = "x"
  }
}
#= run apply -input=false -auto-approve
#= text plan -input=false
resource "legacy_basic" "a" {
  name    = "b"
  words   = []
  letters = [""]
  tags    = {}
  text    = ""
  policy  = "{\"a\":\"\"}"
}
resource "legacy_attribute" "b" {
  name = "b"
}
resource "legacy_deep" "d" {
  name = "d"
  needed {
    on = true
  }
  root {
    title = ""
    middle {
      title = ""
      leaf {
        key    = ""
        values = [""]
      }
    }
  }
}
#= run apply -input=false -auto-approve
#= text plan -input=false
resource "legacy_deep" "d" {
  name = "d"
  needed {
    on = false
  }
  root {
    title = ""
    middle {
      title = "x"
      leaf {
        key    = "y"
        values = ["", "z"]
      }
    }
  }
}
#= run apply -input=false -auto-approve
#= text show
#= text plan -input=false -destroy
