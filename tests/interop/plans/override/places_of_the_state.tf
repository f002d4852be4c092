# A file says once where the state is, also if another file overrides it.
#= file more_override.tf
terraform {
  backend "local" {}
}
terraform {
  backend "local" {}
}
#= validate
terraform {
  backend "local" {}
}
#= file more_override.tf
terraform {
  backend "local" {}
}
#= validate
terraform {
  backend "local" {}
  cloud {
    organization = "x"
  }
}
#= validate
terraform {
  backend "local" {}
}
terraform {
  backend "local" {}
}
#= file more_override.tf
terraform {
  required_version = "> 99"
}
terraform {
  required_version = "> 1"
}
#= validate
terraform {
  required_version = ">= 1"
}
