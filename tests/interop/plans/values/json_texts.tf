# Texts of JSON and values without a type of their own, as a plan shows their changes.
#= apply
resource "terraform_data" "r00" {
  input = "{\"a\":1,\"b\":2}"
}
resource "terraform_data" "r01" {
  input = "{\"a\":1}"
}
resource "terraform_data" "r02" {
  input = "{\"a\":1,\"b\":null}"
}
resource "terraform_data" "r03" {
  input = "{\"a\":1,\"b\":null}"
}
resource "terraform_data" "r04" {
  input = "{\"a\":1}"
}
resource "terraform_data" "r05" {
  input = "{\"a\":null}"
}
resource "terraform_data" "r06" {
  input = "{\"a\":1}"
}
resource "terraform_data" "r07" {
  input = "{\"a\":{\"x\":1,\"y\":2}}"
}
resource "terraform_data" "r08" {
  input = "{\"a\":{\"x\":1}}"
}
resource "terraform_data" "r09" {
  input = "{\"a\":{\"x\":1,\"y\":{\"z\":1}}}"
}
resource "terraform_data" "r10" {
  input = "{\"a\":[1,2,3]}"
}
resource "terraform_data" "r11" {
  input = "{\"a\":[1,null,3]}"
}
resource "terraform_data" "r12" {
  input = "{\"a\":[1,3]}"
}
resource "terraform_data" "r13" {
  input = "{\"a\":[{\"x\":1},{\"y\":2}]}"
}
resource "terraform_data" "r14" {
  input = "{\"a\":[{\"x\":1,\"n\":null},{\"y\":2}]}"
}
resource "terraform_data" "r15" {
  input = "{\"a\":\"multi\\nline\"}"
}
resource "terraform_data" "r16" {
  input = "{\"a\":\"multi\\nline\",\"b\":1}"
}
resource "terraform_data" "r17" {
  input = "{\"a\":1}"
}
resource "terraform_data" "r18" {
  input = "[1,2]"
}
resource "terraform_data" "r19" {
  input = "{\"a\":1}"
}
resource "terraform_data" "r20" {
  input = "not json"
}
resource "terraform_data" "r21" {
  input = "{\"a\":1}"
}
resource "terraform_data" "r22" {
  input = "{\"a\":1}"
}
resource "terraform_data" "r23" {
  input = "{\"a\":true}"
}
resource "terraform_data" "r24" {
  input = "{\"a\":[]}"
}
resource "terraform_data" "r25" {
  input = "{\"a\":[]}"
}
resource "terraform_data" "r26" {
  input = "{\"a\":[1]}"
}
resource "terraform_data" "r27" {
  input = "{\"a\":{}}"
}
resource "terraform_data" "r28" {
  input = "{\"a\":{\"b\":1}}"
}
resource "terraform_data" "r29" {
  input = "{\"a\":{\"b\":1}}"
}
resource "terraform_data" "r30" {
  input = "{\"a\":null}"
}
resource "terraform_data" "r31" {
  input = "{\"a\":null}"
}
resource "terraform_data" "r32" {
  input = "{\"a\":[1]}"
}
resource "terraform_data" "r33" {
  input = "[null]"
}
resource "terraform_data" "r34" {
  input = "[1]"
}
resource "terraform_data" "r35" {
  input = "[[1,2],[3]]"
}
resource "terraform_data" "r36" {
  input = "{\"a\":{\"b\":null,\"c\":1}}"
}
resource "terraform_data" "r37" {
  input = "{\"a\":{\"b\":null,\"c\":1}}"
}
resource "terraform_data" "r38" {
  input = "{\"a\":{\"b\":\"x\\ny\",\"c\":1}}"
}
resource "terraform_data" "r39" {
  input = "{\"a\":\"{\\\"n\\\":1,\\\"m\\\":2}\"}"
}
resource "terraform_data" "r40" {
  input = "{\"a\":1,\"b b\":2}"
}
resource "terraform_data" "r41" {
  input = "{\"s\":[{\"A\":\"x\",\"R\":[\"a\",\"b\"],\"E\":null}]}"
}
resource "terraform_data" "r42" {
  input = "\"x\""
}
resource "terraform_data" "r43" {
  input = "null"
}
resource "terraform_data" "r44" {
  input = "{\"a\":1}"
}
resource "terraform_data" "r45" {
  input = "1"
}
resource "terraform_data" "r46" {
  input = {a=1,b=2}
}
resource "terraform_data" "r47" {
  input = {a=1}
}
resource "terraform_data" "r48" {
  input = {a=1,b=null}
}
resource "terraform_data" "r49" {
  input = {a=null}
}
resource "terraform_data" "r50" {
  input = {a=1}
}
resource "terraform_data" "r51" {
  input = {a={b=1}}
}
resource "terraform_data" "r52" {
  input = {a=null}
}
resource "terraform_data" "r53" {
  input = {a={b=1}}
}
resource "terraform_data" "r54" {
  input = [1,null]
}
resource "terraform_data" "r55" {
  input = [1,2]
}
resource "terraform_data" "r56" {
  input = [1,null,2]
}
resource "terraform_data" "r57" {
  input = {a=1}
}
resource "terraform_data" "r58" {
  input = null
}
resource "terraform_data" "r59" {
  input = {a=1,b=null}
}
resource "terraform_data" "r60" {
  input = {a=1}
}
resource "terraform_data" "r61" {
  input = {a=1}
}
resource "terraform_data" "r62" {
  input = {a=[{b=null,c=1}]}
}
resource "terraform_data" "r63" {
  input = {a="x\ny",b=1}
}
resource "terraform_data" "r64" {
  input = {a=jsonencode({x=1}),b=1}
}
resource "terraform_data" "r65" {
  input = {a=jsonencode({x=1,y=2})}
}
resource "terraform_data" "r66" {
  input = {a=tomap({x=1,y=2})}
}
resource "terraform_data" "r67" {
  input = tomap({x="a",y=null})
}
resource "terraform_data" "r68" {
  input = tomap({x="a"})
}
resource "terraform_data" "r69" {
  input = tomap({x="a",y="b"})
}
resource "terraform_data" "r70" {
  input = toset(["a","b"])
}
resource "terraform_data" "r71" {
  input = {a=toset(["a","b"])}
}
resource "terraform_data" "r72" {
  input = {a=sensitive(1),b=2}
}
resource "terraform_data" "r73" {
  input = {a=1,s=null}
}
output "o00" {
  value = {a=1,b=2}
}
output "o01" {
  value = {a=1}
}
output "o02" {
  value = {a=1,b=null}
}
output "o03" {
  value = {a=null}
}
output "o04" {
  value = {a=1}
}
output "o05" {
  value = {a={b=1}}
}
output "o06" {
  value = {a=null}
}
output "o07" {
  value = {a={b=1}}
}
output "o08" {
  value = [1,null]
}
output "o09" {
  value = [1,2]
}
output "o10" {
  value = [1,null,2]
}
output "o11" {
  value = {a=1}
}
output "o12" {
  value = null
}
output "o13" {
  value = {a=1,b=null}
}
output "o14" {
  value = {a=1}
}
output "o15" {
  value = {a=1}
}
output "o16" {
  value = {a=[{b=null,c=1}]}
}
output "o17" {
  value = {a="x\ny",b=1}
}
output "o18" {
  value = {a=jsonencode({x=1}),b=1}
}
output "o19" {
  value = {a=jsonencode({x=1,y=2})}
}
output "o20" {
  value = {a=tomap({x=1,y=2})}
}
output "o21" {
  value = tomap({x="a",y=null})
}
output "o22" {
  value = tomap({x="a"})
}
output "o23" {
  value = tomap({x="a",y="b"})
}
output "o24" {
  value = toset(["a","b"])
}
output "o25" {
  value = {a=toset(["a","b"])}
}
output "o27" {
  value = {a=1,s=null}
}
#= shown plan
resource "terraform_data" "r00" {
  input = "{\"a\":1}"
}
resource "terraform_data" "r01" {
  input = "{\"a\":1,\"b\":2}"
}
resource "terraform_data" "r02" {
  input = "{\"a\":1}"
}
resource "terraform_data" "r03" {
  input = "{\"a\":2,\"b\":null}"
}
resource "terraform_data" "r04" {
  input = "{\"a\":1,\"b\":null}"
}
resource "terraform_data" "r05" {
  input = "{\"a\":1}"
}
resource "terraform_data" "r06" {
  input = "{\"a\":null}"
}
resource "terraform_data" "r07" {
  input = "{\"a\":{\"x\":1}}"
}
resource "terraform_data" "r08" {
  input = "{\"a\":{\"x\":1,\"y\":{\"z\":null}}}"
}
resource "terraform_data" "r09" {
  input = "{\"a\":{\"x\":1}}"
}
resource "terraform_data" "r10" {
  input = "{\"a\":[1,3]}"
}
resource "terraform_data" "r11" {
  input = "{\"a\":[1,3]}"
}
resource "terraform_data" "r12" {
  input = "{\"a\":[1,null,3]}"
}
resource "terraform_data" "r13" {
  input = "{\"a\":[{\"x\":1}]}"
}
resource "terraform_data" "r14" {
  input = "{\"a\":[{\"x\":2,\"n\":null},{\"y\":2}]}"
}
resource "terraform_data" "r15" {
  input = "{\"a\":\"multi\\nlines\"}"
}
resource "terraform_data" "r16" {
  input = "{\"b\":1}"
}
resource "terraform_data" "r17" {
  input = "[1]"
}
resource "terraform_data" "r18" {
  input = "{\"a\":1}"
}
resource "terraform_data" "r19" {
  input = "not json"
}
resource "terraform_data" "r20" {
  input = "{\"a\":1}"
}
resource "terraform_data" "r21" {
  input = "{ \"a\" : 1 }"
}
resource "terraform_data" "r22" {
  input = "{\"a\":\"1\"}"
}
resource "terraform_data" "r23" {
  input = "{\"a\":\"true\"}"
}
resource "terraform_data" "r24" {
  input = "{\"a\":{}}"
}
resource "terraform_data" "r25" {
  input = "{\"a\":[1]}"
}
resource "terraform_data" "r26" {
  input = "{\"a\":[]}"
}
resource "terraform_data" "r27" {
  input = "{\"a\":{\"b\":1}}"
}
resource "terraform_data" "r28" {
  input = "{\"a\":{}}"
}
resource "terraform_data" "r29" {
  input = "{\"a\":null}"
}
resource "terraform_data" "r30" {
  input = "{\"a\":{\"b\":1}}"
}
resource "terraform_data" "r31" {
  input = "{\"a\":[1]}"
}
resource "terraform_data" "r32" {
  input = "{\"a\":null}"
}
resource "terraform_data" "r33" {
  input = "[1]"
}
resource "terraform_data" "r34" {
  input = "[null]"
}
resource "terraform_data" "r35" {
  input = "[[1],[3]]"
}
resource "terraform_data" "r36" {
  input = "{\"a\":{\"b\":null,\"c\":2}}"
}
resource "terraform_data" "r37" {
  input = "{\"d\":1}"
}
resource "terraform_data" "r38" {
  input = "{\"a\":{\"c\":1}}"
}
resource "terraform_data" "r39" {
  input = "{\"a\":\"{\\\"n\\\":1}\"}"
}
resource "terraform_data" "r40" {
  input = "{\"b b\":3}"
}
resource "terraform_data" "r41" {
  input = "{\"s\":[{\"A\":\"x\",\"R\":[\"a\"]}]}"
}
resource "terraform_data" "r42" {
  input = "\"y\""
}
resource "terraform_data" "r43" {
  input = "{\"a\":1}"
}
resource "terraform_data" "r44" {
  input = "null"
}
resource "terraform_data" "r45" {
  input = "2"
}
resource "terraform_data" "r46" {
  input = {a=1}
}
resource "terraform_data" "r47" {
  input = {a=1,b=null}
}
resource "terraform_data" "r48" {
  input = {a=1}
}
resource "terraform_data" "r49" {
  input = {a=1}
}
resource "terraform_data" "r50" {
  input = {a=null}
}
resource "terraform_data" "r51" {
  input = {a=null}
}
resource "terraform_data" "r52" {
  input = {a={b=1}}
}
resource "terraform_data" "r53" {
  input = {c=1}
}
resource "terraform_data" "r54" {
  input = [1,2]
}
resource "terraform_data" "r55" {
  input = [1,null]
}
resource "terraform_data" "r56" {
  input = [1,2]
}
resource "terraform_data" "r57" {
  input = null
}
resource "terraform_data" "r58" {
  input = {a=1,b=null}
}
resource "terraform_data" "r59" {
  input = null
}
resource "terraform_data" "r60" {
  input = [1]
}
resource "terraform_data" "r61" {
  input = "x"
}
resource "terraform_data" "r62" {
  input = {a=[{b=null,c=2}]}
}
resource "terraform_data" "r63" {
  input = {b=1}
}
resource "terraform_data" "r64" {
  input = {b=1}
}
resource "terraform_data" "r65" {
  input = {a=jsonencode({x=1})}
}
resource "terraform_data" "r66" {
  input = {a=tomap({x=1})}
}
resource "terraform_data" "r67" {
  input = tomap({x="a"})
}
resource "terraform_data" "r68" {
  input = tomap({x="a",y=null})
}
resource "terraform_data" "r69" {
  input = tomap({x="a",y=null})
}
resource "terraform_data" "r70" {
  input = toset(["a"])
}
resource "terraform_data" "r71" {
  input = {a=toset(["b"])}
}
resource "terraform_data" "r72" {
  input = {a=1}
}
resource "terraform_data" "r73" {
  input = {a=2,s=null}
}
output "o00" {
  value = {a=1}
}
output "o01" {
  value = {a=1,b=null}
}
output "o02" {
  value = {a=1}
}
output "o03" {
  value = {a=1}
}
output "o04" {
  value = {a=null}
}
output "o05" {
  value = {a=null}
}
output "o06" {
  value = {a={b=1}}
}
output "o07" {
  value = {c=1}
}
output "o08" {
  value = [1,2]
}
output "o09" {
  value = [1,null]
}
output "o10" {
  value = [1,2]
}
output "o11" {
  value = null
}
output "o12" {
  value = {a=1,b=null}
}
output "o13" {
  value = null
}
output "o14" {
  value = [1]
}
output "o15" {
  value = "x"
}
output "o16" {
  value = {a=[{b=null,c=2}]}
}
output "o17" {
  value = {b=1}
}
output "o18" {
  value = {b=1}
}
output "o19" {
  value = {a=jsonencode({x=1})}
}
output "o20" {
  value = {a=tomap({x=1})}
}
output "o21" {
  value = tomap({x="a"})
}
output "o22" {
  value = tomap({x="a",y=null})
}
output "o23" {
  value = tomap({x="a",y=null})
}
output "o24" {
  value = toset(["a"])
}
output "o25" {
  value = {a=toset(["b"])}
}
output "o27" {
  value = {a=2,s=null}
}
