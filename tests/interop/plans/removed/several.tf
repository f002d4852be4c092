#= apply
resource "terraform_data" "a" {
}
#= plan
removed {
  from = terraform_data.a
}
removed {
  from = terraform_data.a
}
removed {
  from = module.m
}
#= plan
removed {
  from = terraform_data.a
  lifecycle {
    destroy = false
  }
  lifecycle {
  }
}
#= apply
removed {
  from = terraform_data.a
  lifecycle {
    destroy = true
  }
  lifecycle {
    destroy = false
  }
}
