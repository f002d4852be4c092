#compdef formwork
# The program itself knows the candidates: it is asked with the line in COMP_LINE.
local line="${(j: :)words[1,CURRENT]}"
local -a candidates
candidates=("${(@f)$(COMP_LINE="$line" COMP_POINT="${#line}" "${words[1]}" 2>/dev/null)}")
compadd -- ${candidates:#}
