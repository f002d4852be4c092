# The program returns the candidates for the line up to the cursor.
function __complete_formwork
    set -lx COMP_LINE (commandline -cp)
    set -l word (commandline -ct)
    test -z "$word"
    and set COMP_LINE "$COMP_LINE "
    set -l found (PROGRAM 2>/dev/null)
    if set -q found[1]
        printf '%s\n' $found
        return
    end
    set -l option (string match -r -- '^-[^=]*=' $word)
    __fish_complete_path (string replace -r -- '^-[^=]*=' '' $word) | string replace -r -- '^' "$option"
end
complete -f -c formwork -a "(__complete_formwork)"
