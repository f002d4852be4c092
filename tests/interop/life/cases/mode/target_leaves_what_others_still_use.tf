#= apply
resource "test_thing" "a" {
  name = "a"
  forced = "1"
  lifecycle {
    create_before_destroy = true
  }
}
resource "test_thing" "b" {
  name = "b"
  value = test_thing.a.id
}
resource "test_thing" "c" {
  name = "c"
  value = test_thing.a.id
}
#= apply -target=test_thing.b
resource "test_thing" "a" {
  name = "a"
  forced = "2"
  lifecycle {
    create_before_destroy = true
  }
}
resource "test_thing" "b" {
  name = "b"
  value = test_thing.a.id
}
resource "test_thing" "c" {
  name = "c"
  value = test_thing.a.id
}
#= apply
#= apply -target=test_thing.b -replace=test_thing.b
resource "test_thing" "a" {
  name = "a"
  forced = "3"
  lifecycle {
    create_before_destroy = true
  }
}
resource "test_thing" "b" {
  name = "b"
  value = test_thing.a.id
}
resource "test_thing" "c" {
  name = "c"
  value = test_thing.a.id
}
#= apply -target=test_thing.b
resource "test_thing" "a" {
  name = "a"
  forced = "4"
  lifecycle {
    create_before_destroy = true
  }
}
resource "test_thing" "b" {
  name = "b"
  value = "new"
  depends_on = [test_thing.a]
}
resource "test_thing" "c" {
  name = "c"
  value = test_thing.a.id
}
#= apply -target=test_thing.b
resource "test_thing" "a" {
  count = 2
  name = "a${count.index}"
  forced = "5"
  lifecycle {
    create_before_destroy = true
  }
}
resource "test_thing" "b" {
  name = "b"
  forced = join(",", test_thing.a[*].id)
}
resource "test_thing" "c" {
  name = "c"
  value = test_thing.a[0].id
}
#= apply -target=test_thing.b
resource "test_thing" "a" {
  count = 2
  name = "a${count.index}"
  forced = "6"
  lifecycle {
    create_before_destroy = true
  }
}
resource "test_thing" "b" {
  name = "b"
  forced = join(",", test_thing.a[*].id)
}
resource "test_thing" "c" {
  name = "c"
  value = test_thing.a[0].id
}
