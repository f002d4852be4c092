#= validate
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
resource "test_thing" "t" {
  name = "t"
}
resource "test_blocks" "a" {
  name = "a"
  single {
    text = "x"
  }
  dynamic "single" {
    for_each = split(",", test_thing.t.id)
    content {
      text = "x"
    }
  }
}
