#compdef formwork
# The program returns the candidates for the line up to the cursor.
_formwork() {
    local line="${(j: :)words[1,CURRENT-1]} $QIPREFIX$IPREFIX$PREFIX"
    local -a found
    found=("${(@f)$(COMP_LINE="$line" PROGRAM 2>/dev/null)}")
    found=(${found:#})
    if (( ! $#found )); then
        compset -P '-*='
        _files
        return
    fi
    compadd -S '' -- ${(M)found:#*=}
    compadd -- ${found:#*=}
}
