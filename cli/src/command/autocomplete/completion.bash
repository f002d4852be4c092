# The program returns the candidates for the line up to the cursor.
_formwork() {
    local word
    COMPREPLY=()
    while IFS= read -r word; do
        COMPREPLY+=("$word")
    done < <(COMP_LINE="${COMP_LINE:0:COMP_POINT}" COMP_TYPE="$COMP_TYPE" PROGRAM 2>/dev/null)
    [[ ${COMPREPLY[*]} != *= ]] || compopt -o nospace 2>/dev/null
}
complete -o default -F _formwork formwork
