# Templates with directives and trimming, here documents.
#= apply
locals {
  names = ["ann", "bob"]
}
output "o" {
  value = {
    loop   = "%{for name in local.names}<${name}>%{endfor}"
    choice = "%{if length(local.names) > 1}many%{else}few%{endif}"
    heredoc = <<EOT
Names:
%{for name in local.names~}
 - ${name}
%{endfor~}
End
EOT
    indented = <<-EOT
        deep
          deeper
      least
    EOT
    trim    = "a ${~ "b" ~} c"
    escape  = "$${not} %%{not} \"q\" \\ \n"
    only    = "${local.names}"
    number  = "${1 + 1}"
    unicode = "\u00e4\U0001F600"
  }
}
