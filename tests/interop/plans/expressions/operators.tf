# Operators, conditionals, comparisons.
#= apply
locals {
  n = 7
  t = "text"
}
output "o" {
  value = {
    arithmetic = [local.n + 1, local.n - 10, local.n * 2, local.n / 2, local.n % 4, -local.n]
    comparison = [local.n > 6, local.n >= 7, local.n < 7, local.n <= 6, local.n == 7, local.n != 7]
    logic      = [true && false, true || false, !true]
    choice     = local.n > 5 ? "large" : "small"
    mixed      = local.n > 5 ? [1] : []
    text       = "n is ${local.n}, t is ${local.t}"
    same       = [1 == "1", "a" == "a", null == null, [] == [], { a = 1 } == { a = 1 }]
    nested     = ((1 + 2) * 3) - -4
  }
}
