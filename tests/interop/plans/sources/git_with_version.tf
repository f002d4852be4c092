# A version for a repository.
#= validate
module "m" {
  source = "git::https://example.com/a/b.git"
  version = "1.0.0"
}
