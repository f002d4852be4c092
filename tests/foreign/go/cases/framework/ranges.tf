#= run validate -json
resource "framework_nested" "a" {
  name   = "a"
  single = { key = "bitter 1" }
  list   = [{ key = "x" }, { key = "bitter 2" }]
  set    = [{ key = "bitter 3" }]
  map    = { m = { key = "bitter 4" } }
  deep = [{
    title  = "x"
    leaves = [{ key = "bitter 5" }]
    only   = { key = "bitter 6" }
  }]
}
resource "framework_thing" "a" {
  name = "bitter"
  text = "${"bitter"} and more"
}
resource "framework_blocked" "a" {
  name = "x"
  part {
    size = 1
    leaf {
      key = "x"
    }
  }
  dynamic "part" {
    for_each = [1]
    content {
    }
  }
  single {
    text = "bitter"
  }
}
