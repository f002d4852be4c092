# A target system in capitals.
#= validate
module "m" {
  source = "a/b/C"
}
