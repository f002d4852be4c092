# The program itself knows the candidates: it is asked with the line in COMP_LINE.
function __complete_formwork
    set -lx COMP_LINE (commandline -cp)
    test -z (commandline -ct)
    and set COMP_LINE "$COMP_LINE "
    set -lx COMP_POINT (string length -- $COMP_LINE)
    formwork 2>/dev/null
end
complete -f -c formwork -a "(__complete_formwork)"
