#= apply
resource "legacy_block" "a" {
  name = "a"
  rule {
    port = 1
  }
  disk {
    size = 1
  }
}
resource "legacy_basic" "a" {
  name = "a"
  text = legacy_block.a.policy[0].mode
}
output "rules" {
  value = legacy_block.a.rule
}
#= world a-1 'rule=[{"port":2,"protocol":"udp","note":"theirs","hosts":[]}]' 'disk=[]' 'policy=[{"mode":"manual","ttl":1}]'
#= plan
#= apply -refresh-only
#= apply
#= world a-1 'text=unwanted' 'quiet=[{"text":"loud"}]'
#= apply
