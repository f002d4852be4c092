#= apply
resource "legacy_basic" "least" {
  name = "least"
}
resource "legacy_basic" "full" {
  name      = "full"
  text      = "a text"
  size      = 7
  ratio     = 0.1
  on        = false
  off       = true
  fixed     = 1
  token     = "hidden"
  zone      = "zone-b"
  region    = "there"
  tags      = { a = "1", b = "" }
  counts    = { one = 1 }
  flags     = { yes = true }
  labels    = { mine = "yes" }
  words     = ["x", "", "y"]
  letters   = ["b", "a", "b"]
  numbers   = [3, 1]
  addresses = ["10.1.1.1"]
  content   = "a long content"
  label     = "Label"
  policy    = jsonencode({ b = 1, a = [] })
  timeouts {
    create = "2m"
    delete = "30s"
  }
}
output "zone" {
  value = legacy_basic.least.zone
}
#= plan
#= apply
resource "legacy_basic" "least" {
  name = "least"
  text = "now a text"
  zone = legacy_basic.full.zone
  tags = { id = legacy_basic.full.id }
}
resource "legacy_basic" "full" {
  name   = "full"
  label  = "LABEL"
  policy = "{ \"a\": [],   \"b\": 1 }"
  words  = []
  content = "another content"
}
#= apply
resource "legacy_basic" "least" {
  name  = "least"
  fixed = 2
}
resource "legacy_basic" "full" {
  name = "other"
}
#= plan
#= apply -destroy
