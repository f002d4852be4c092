#= apply
resource "terraform_data" "each" {
  for_each = { a = 1, b = 1 }
  input    = each.value
}
resource "terraform_data" "counted" {
  count = 2
  input = 1
}
resource "terraform_data" "by_key" {
  for_each = toset(["a", "b"])
  lifecycle {
    replace_triggered_by = [terraform_data.each[each.key]]
  }
}
resource "terraform_data" "by_index" {
  count = 2
  lifecycle {
    replace_triggered_by = [terraform_data.counted[count.index].output]
  }
}
resource "terraform_data" "by_all" {
  lifecycle {
    replace_triggered_by = [terraform_data.counted]
  }
}
#= apply
resource "terraform_data" "each" {
  for_each = { a = 1, b = 2 }
  input    = each.value
}
resource "terraform_data" "counted" {
  count = 2
  input = 1 + count.index
}
resource "terraform_data" "by_key" {
  for_each = toset(["a", "b"])
  lifecycle {
    replace_triggered_by = [terraform_data.each[each.key]]
  }
}
resource "terraform_data" "by_index" {
  count = 2
  lifecycle {
    replace_triggered_by = [terraform_data.counted[count.index].output]
  }
}
resource "terraform_data" "by_all" {
  lifecycle {
    replace_triggered_by = [terraform_data.counted]
  }
}
