#= validate
resource "terraform_data" "a" {
  lifecycle {
    replace_triggered_by = [path.module]
  }
}
resource "terraform_data" "b" {
  lifecycle {
    replace_triggered_by = [terraform_data.a.id == "x"]
  }
}
resource "terraform_data" "c" {
  lifecycle {
    replace_triggered_by = terraform_data.a
  }
}
resource "terraform_data" "d" {
  lifecycle {
    replace_triggered_by = ["terraform_data.a"]
  }
}
