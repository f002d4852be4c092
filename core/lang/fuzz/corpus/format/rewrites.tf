variable a {
type="list"
default="${[
1 ]}"
}
a   =  "${"${x}"}" # c
bb= [ 1,# d
-2 ]
