#= text plan -input=false
resource "framework_nested" "least" {
  name = "least"
}
resource "framework_nested" "empty" {
  name   = "empty"
  list   = []
  set    = []
  map    = {}
  single = { key = "", note = "" }
}
resource "framework_nested" "full" {
  name   = "full"
  single = { key = "a" }
  list   = [{ key = "a" }, { key = "b", note = "mine", size = 2, hosts = ["y", "x"] }, { key = "k", note = "n" }]
  set    = [{ key = "b", secret = "s" }, { key = "a" }]
  map = {
    one            = { key = "a" }
    two            = { key = framework_nested.least.id, hosts = [] }
    "a longer key" = { key = "q", note = "w" }
  }
  deep = [
    { title = "t", leaves = [{ key = "a" }, { key = "b" }], only = { key = "c" } },
    {},
    { leaves = [] },
  ]
  fixed  = [{ key = "a" }, { key = "b", kind = "other" }]
  hidden = [{ key = "h" }]
}
resource "framework_nested" "gone" {
  name   = "gone"
  single = { key = "a" }
  list   = [{ key = "a" }, { key = "b", note = "mine", size = 2, hosts = ["y", "x"] }]
  set    = [{ key = "b", secret = "s" }, { key = "a" }]
  map    = { one = { key = "a", hosts = ["h"] }, "t wo" = { key = "2" } }
  deep   = [{ title = "t", leaves = [{ key = "a" }, { key = "b" }], only = { key = "c" } }, {}]
  fixed  = [{ key = "a" }, { key = "b", kind = "other" }]
  hidden = [{ key = "h" }]
}
resource "framework_nested" "nulled" {
  name   = "nulled"
  single = { key = "a", hosts = ["x"], secret = "s" }
  list   = [{ key = "a" }, { key = "b", note = "mine", size = 2, hosts = ["y", "x"] }]
  set    = [{ key = "b", note = "n" }, { key = "a", note = "n" }]
  map    = { one = { key = "a", hosts = ["h"] }, "t wo" = { key = "2" } }
  deep   = [{ title = "t", leaves = [{ key = "a" }, { key = "b" }], only = { key = "c" } }, {}]
  fixed  = [{ key = "a" }, { key = "b", kind = "other" }]
  hidden = [{ key = "h" }]
}
resource "framework_nested" "kept" {
  name   = "kept"
  single = { key = "a", note = "x" }
  list   = [{ key = "a", note = "x" }, { key = "b", note = "mine", size = 2, hosts = ["y", "x"] }]
  set    = [{ key = "b", note = "n" }, { key = "a", note = "n" }]
  map    = { one = { key = "a", note = "x", hosts = ["h"] }, "t wo" = { key = "2", note = "x" } }
}
#= run apply -input=false -auto-approve
#= text show
#= text plan -input=false
resource "framework_nested" "least" {
  name   = "least"
  single = { key = "now", note = "n", hosts = [], secret = "x" }
  list   = [{ key = "a", note = "1" }]
  set    = [{ key = "a", note = "1" }]
  map    = { a = { key = "a", note = "1" } }
  deep   = [{ title = "t", leaves = [{ key = "a" }], only = { key = "c", note = "k" } }]
  hidden = [{ key = "h" }]
  fixed  = [{ key = "a" }]
}
resource "framework_nested" "empty" {
  name   = "empty"
  list   = [{ key = "", note = "" }]
  set    = [{ key = "" }]
  map    = { "" = { key = "" } }
  single = { key = "x", note = "" }
}
resource "framework_nested" "full" {
  name   = "full"
  single = { key = "a", note = "now" }
  list   = [{ key = "b", note = "mine" }]
  set    = [{ key = "b", secret = "t" }, { key = "c" }]
  map = {
    one            = { key = "z" }
    three          = { key = "a" }
    "a longer key" = { key = "q", note = "w" }
  }
  deep   = [{ title = "t", leaves = [{ key = "b", size = 5 }] }, { title = "new" }, { leaves = [], only = { key = "in" } }, { title = "fourth" }]
  fixed  = [{ key = "a" }, { key = "b", kind = "third" }]
  hidden = [{ key = "i" }]
}
resource "framework_nested" "nulled" {
  name = "nulled"
}
resource "framework_nested" "kept" {
  name   = "kept"
  single = { key = "a", note = "x" }
  list   = [{ key = "a", note = "x" }, { key = "b", note = "mine", size = 3, hosts = ["y"] }]
  set    = [{ key = "b", note = "n" }, { key = "a", note = "n" }]
  map    = { one = { key = "a", note = "x", hosts = ["h", "i"] }, "t wo" = { key = "2", note = "x" } }
}
#= run apply -input=false -auto-approve
#= text plan -input=false
resource "framework_nested" "least" {
  name   = "least"
  single = { key = "now2", hosts = ["z"], secret = "y" }
  list   = [{ key = "0", note = "1" }, { key = "a", note = "1" }]
  set    = [{ key = "a", note = "1" }, { key = "b", note = "1" }]
  map    = { b = { key = "a", note = "1" } }
  deep   = [{ title = "u", leaves = [{ key = "a" }], only = { key = "c", note = "m" } }]
  hidden = [{ key = "h" }, { key = "i" }]
  fixed  = [{ key = "changed" }]
}
resource "framework_nested" "fresh" {
  name = "fresh"
}
resource "framework_nested" "empty" {
  name   = "empty"
  list   = [{ key = framework_nested.fresh.id, note = framework_nested.fresh.id }]
  set    = [{ key = framework_nested.fresh.id }]
  map    = { "" = { key = framework_nested.fresh.id }, "q" = { key = framework_nested.fresh.id } }
  single = { key = framework_nested.fresh.id, note = "" }
}
resource "framework_nested" "full" {
  name  = "full"
  fixed = [{ key = "a" }]
  list  = sensitive([{ key = "b", note = "mine" }])
  set   = [{ key = sensitive("b"), secret = "t" }, { key = "c" }]
  map   = sensitive({ one = { key = "z" } })
}
resource "framework_nested" "kept" {
  name   = "renamed"
  single = { key = "a", note = "x" }
  list   = [{ key = "a", note = "x" }, { key = "b", note = "mine", size = 3, hosts = ["y"] }]
  set    = [{ key = "b", note = "n" }, { key = "a", note = "n" }]
  map    = { one = { key = "a", note = "x", hosts = ["h", "i"] }, "t wo" = { key = "2", note = "x" } }
}
#= run apply -input=false -auto-approve
#= text plan -input=false
resource "framework_nested" "empty" {
  name   = "empty"
  list   = null
  set    = [for k in ["x", "y"] : { key = k, note = "1" } if k != "x"]
  map    = {}
  single = { key = "q", note = null }
}
resource "framework_nested" "full" {
  name  = "full"
  fixed = [{ key = "a" }]
  list  = [{ key = "b", note = "mine" }]
  set   = [{ key = "b", secret = "t" }, { key = "c" }]
  map   = { one = { key = "z" } }
}
resource "framework_nested" "kept" {
  name   = "renamed"
  single = { key = sensitive("a"), note = "x" }
  list   = [{ key = sensitive("a"), note = "x" }, { key = "b", note = "mine", size = sensitive(3), hosts = ["y"] }]
  set    = [{ key = "b", note = "n" }, { key = "a", note = "n" }]
  map    = { one = { key = "a", note = sensitive("x"), hosts = ["h", "i"] }, "t wo" = { key = "2", note = "x" } }
}
#= run apply -input=false -auto-approve
#= text show
#= text plan -input=false
resource "framework_filled" "a" {
  name = "a"
}
resource "framework_filled" "b" {
  name   = "b"
  single = { key = "k" }
  list   = [{ key = "k" }, { key = "l" }]
  set    = [{ key = "k" }]
  map    = { x = { key = "k" } }
}
#= run apply -input=false -auto-approve
#= text plan -input=false
resource "framework_filled" "a" {
  name = "a2"
  list = [{ key = "k" }, { key = "l" }]
}
resource "framework_filled" "b" {
  name = "b2"
}
#= run apply -input=false -auto-approve
#= text plan -input=false
resource "framework_filled" "a" {
  name   = "a2"
  list   = [{ key = "k" }]
  single = { key = "z" }
}
resource "framework_nested" "odd" {
  name = "odd"
  list = [{ key = "a\nb\nc", note = jsonencode({ a = [1, 2], b = {} }) }]
  map  = { "ä" = { key = "multi\nline" }, "b.c" = { key = "{}" } }
}
#= run apply -input=false -auto-approve
#= text show
#= text plan -input=false
resource "framework_nested" "odd" {
  name = "odd"
  list = [{ key = "a\nB\nc", note = jsonencode({ a = [1, 3], b = {} }) }]
  map  = { "ä" = { key = "multi\nlines\nx" }, "b.c" = { key = "[]" } }
}
#= run apply -input=false -auto-approve
#= text plan -input=false -destroy
