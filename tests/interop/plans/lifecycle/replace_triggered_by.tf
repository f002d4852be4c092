# Replaced because another resource changes, or one attribute of it.
#= apply
resource "terraform_data" "a" {
  input = { x = 1, y = 1 }
}
resource "terraform_data" "many" {
  count = 2
  input = 1
}
resource "terraform_data" "whole" {
  lifecycle {
    replace_triggered_by = [terraform_data.a]
  }
}
resource "terraform_data" "part" {
  lifecycle {
    replace_triggered_by = [terraform_data.a.input]
  }
}
resource "terraform_data" "output" {
  lifecycle {
    replace_triggered_by = [terraform_data.a.output]
  }
}
resource "terraform_data" "id" {
  lifecycle {
    replace_triggered_by = [terraform_data.a.id]
  }
}
resource "terraform_data" "each" {
  count = 2
  lifecycle {
    replace_triggered_by = [terraform_data.many[count.index]]
  }
}
#= plan
#= apply
resource "terraform_data" "a" {
  input = { x = 1, y = 2 }
}
resource "terraform_data" "many" {
  count = 2
  input = count.index
}
resource "terraform_data" "whole" {
  lifecycle {
    replace_triggered_by = [terraform_data.a]
  }
}
resource "terraform_data" "part" {
  lifecycle {
    replace_triggered_by = [terraform_data.a.input]
  }
}
resource "terraform_data" "output" {
  lifecycle {
    replace_triggered_by = [terraform_data.a.output]
  }
}
resource "terraform_data" "id" {
  lifecycle {
    replace_triggered_by = [terraform_data.a.id]
  }
}
resource "terraform_data" "each" {
  count = 2
  lifecycle {
    replace_triggered_by = [terraform_data.many[count.index]]
  }
}
#= plan
