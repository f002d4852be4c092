#= validate
removed {
}
removed {
  from = terraform_data.a
  lifecycle {
    destroy = "x"
  }
}
removed {
  from = terraform_data.a[0]
}
removed {
  from = module.a["x"]
}
removed {
  from = data.foo.x
}
removed {
  from = "terraform_data.b"
}
removed {
  from = terraform_data.c
  lifecycle {
    prevent_destroy = true
  }
}
removed {
  from = terraform_data.d
  lifecycle {
    destroy = null
  }
}
removed {
  from = terraform_data.e
  lifecycle {
    destroy = var.x
  }
}
