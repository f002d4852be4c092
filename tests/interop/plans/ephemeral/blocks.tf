#= validate
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}

ephemeral "test_token" "a" {
  name = "x"
  lifecycle {
    create_before_destroy = true
    ignore_changes        = [name]
    prevent_destroy       = true
  }
}
ephemeral "foo" "bar" "baz" {
}
ephemeral "test_token" "1x" {
}
ephemeral "test_token" "a" {
}
#= validate
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}

ephemeral "test_tokn" "a" {
}
ephemeral "test_thing" "a" {
}
resource "test_token" "a" {
}
data "test_token" "a" {
}
ephemeral "test_token" "t" {
  lasts = "x"
}
ephemeral "terraform_data" "x" {
}
#= validate
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}

ephemeral "test_token" "a" {
  nam = "x"
  unknown {
  }
}
ephemeral "test_token" "read_only" {
  token = "x"
}
