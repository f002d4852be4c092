#= apply
resource "framework_nested" "least" {
  name = "least"
}
resource "framework_nested" "full" {
  name   = "full"
  single = { key = "a" }
  list   = [{ key = "a" }, { key = "b", note = "mine", size = 2, hosts = ["y", "x"] }]
  set    = [{ key = "b", secret = "s" }, { key = "a" }]
  map = {
    one = { key = "a" }
    two = { key = framework_nested.least.id, hosts = [] }
  }
  deep = [
    { title = "t", leaves = [{ key = "a" }, { key = "b" }], only = { key = "c" } },
    {},
    { leaves = [] },
  ]
  fixed  = [{ key = "a" }, { key = "b", kind = "other" }]
}
#= plan
#= apply
resource "framework_nested" "least" {
  name   = "least"
  single = { key = "sour" }
  list   = []
}
resource "framework_nested" "full" {
  name   = "full"
  single = { key = "a", note = "now" }
  list   = [{ key = "b", note = "mine" }]
  set    = [{ key = "b", secret = "t" }, { key = "c" }]
  map = {
    one   = { key = "z" }
    three = { key = "a" }
  }
  deep   = [{ title = "t", leaves = [{ key = "b", size = 5 }] }]
  fixed  = [{ key = "a" }, { key = "b", kind = "third" }]
}
#= plan
resource "framework_nested" "full" {
  name  = "full"
  fixed = [{ key = "a" }]
}
#= plan
resource "framework_nested" "full" {
  name = "full"
  set  = [{ key = "bitter" }]
  list = [{ key = "a" }, { key = "bitter" }]
  map  = { k = { key = "sour" } }
}
#= apply -destroy
