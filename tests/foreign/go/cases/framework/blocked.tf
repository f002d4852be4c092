#= apply
resource "framework_blocked" "least" {
  name = "least"
}
resource "framework_blocked" "full" {
  name = "full"
  part {}
  part {
    size = 1
    kind = "k"
    leaf {
      key    = "b"
      values = ["1"]
    }
    leaf {
      key = "a"
    }
  }
  member {
    label = "mine"
  }
  member {
    size = 2
    leaf {
      key = framework_blocked.least.id
    }
  }
  single {
    text = "t"
  }
}
#= plan
#= apply
resource "framework_blocked" "least" {
  name = "least"
  single {
    on = true
  }
}
resource "framework_blocked" "full" {
  name = "full"
  part {
    size = 1
    kind = "k"
  }
  dynamic "member" {
    for_each = ["x", framework_blocked.least.id]
    content {
      label = member.value
    }
  }
}
#= plan
resource "framework_blocked" "full" {
  name = "full"
  part {
    kind = "other"
  }
  single {
    text = "bitter"
  }
}
#= plan
resource "framework_blocked" "full" {
  name = "full"
  part {
    kind = "other"
  }
  single {
    text = "sour"
  }
}
#= apply -destroy
