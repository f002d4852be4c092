#= validate
terraform {
  language = TF2021
}
#= validate
terraform {
  language = TF2099
}
#= validate
terraform {
  language = "TF2021"
}
#= validate
terraform {
  experiments = [everything]
}
#= validate
terraform {
  backend "s3" {}
  cloud {}
}
#= validate
terraform {
  backend "s3" {}
}
terraform {
  backend "local" {}
}
#= validate
terraform {
  backend "s3" {
    bucket = "states"
  }
}
