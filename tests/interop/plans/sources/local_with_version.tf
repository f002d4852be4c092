# A version for a folder.
#= validate
module "m" {
  source = "./x"
  version = "1.0.0"
}
