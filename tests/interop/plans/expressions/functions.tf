# A sample of the functions.
#= apply
output "text" {
  value = [upper("a"), title("a b"), join("-", ["a", "b"]), split(",", "a,b"), replace("aXb", "X", "-"), regex("[0-9]+", "a12b"), regexall("[a-z]", "a1b"), trimspace(" x "), format("%05.1f|%-5s|%x", 3.14159, "a", 255), formatlist("%s!", ["a", "b"]), substr("hello", 1, 3), strrev("abc"), indent(2, "a\nb"), chomp("a\n"), startswith("abc", "ab"), trimprefix("abc", "a")]
}
output "collections" {
  value = [length([1, 2]), concat([1], [2]), distinct([1, 1, 2]), flatten([[1], [[2]]]), keys({ b = 1, a = 2 }), values({ b = 1, a = 2 }), lookup({ a = 1 }, "b", 0), merge({ a = 1 }, { b = 2 }), reverse([1, 2]), setunion(["a"], ["b"]), slice([1, 2, 3], 1, 2), sort(["b", "a"]), zipmap(["a"], [1]), contains(["a"], "a"), element([1, 2], 3), chunklist([1, 2, 3], 2), coalesce(null, "a"), compact(["a", ""]), index(["a", "b"], "b"), range(3), setproduct(["a"], ["b", "c"]), transpose({ a = ["x"] }), one([1]), sum([1, 2]), matchkeys(["a"], ["k"], ["k"]), alltrue([true]), anytrue([])]
}
output "numbers" {
  value = [abs(-1), ceil(1.1), floor(1.9), log(8, 2), max(1, 2), min(1, 2), parseint("ff", 16), pow(2, 10), signum(-3)]
}
output "encodings" {
  value = [base64encode("a"), base64decode("YQ=="), jsonencode({ a = [1, null, "<>"] }), jsondecode("{\"a\":[1,null]}"), yamlencode({ a = [1, "x"], b = { c = null } }), yamldecode("a: [1, x]"), urlencode("a b&c"), csvdecode("a,b\n1,2"), md5("a"), sha1("a"), sha256("a"), sha512("a"), textencodebase64("a", "UTF-16LE"), base64gzip("")]
}
output "types" {
  value = [tostring(1), tonumber("1"), tobool("true"), tolist([1, "a"]), toset([1, 1]), tomap({ a = 1 }), try(tonumber("x"), "fallback"), can(tonumber("x")), type(1) == number, issensitive(sensitive(1))]
}
output "network" {
  value = [cidrhost("10.0.0.0/8", 5), cidrnetmask("10.0.0.0/8"), cidrsubnet("10.0.0.0/8", 8, 2), cidrsubnets("10.0.0.0/8", 4, 8)]
}
output "time" {
  value = [formatdate("YYYY-MM-DD", "2020-02-03T04:05:06Z"), timeadd("2020-02-03T04:05:06Z", "1h"), timecmp("2020-02-03T04:05:06Z", "2020-02-03T04:05:07Z")]
}
output "paths" {
  value = [basename("a/b"), dirname("a/b"), path.module, path.root, terraform.workspace]
}
