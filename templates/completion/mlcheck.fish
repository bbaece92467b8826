# Completion of mlcheck for fish. In ~/.config/fish/config.fish:  mlcheck completion fish | source
function __mlcheck_candidates
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    # Fish completes the whole word: what stands before the = sign of --storm=2.8 has to be said again.
    set -l head (string match -r -- '^[^=]*=' "$current")
    set -l values ($words[1] completion candidates -- $words[2..] "$current" 2>/dev/null </dev/null)
    if not string match -q -- '?*' $values
        set values (__fish_complete_path (string replace -r -- '^[^=]*=' '' "$current"))
    end
    for value in $values
        echo -- "$head$value"
    end
end
complete -c mlcheck -f -a '(__mlcheck_candidates)'
