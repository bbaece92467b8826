#compdef mlcheck
# Completion of mlcheck for zsh. In ~/.zshrc, after compinit:  eval "$(mlcheck completion zsh)"
_mlcheck() {
    local value
    local -a plain open
    for value in "${(@f)$("${words[1]}" completion candidates -- "${(@)words[2,CURRENT]}" 2>/dev/null </dev/null)}"; do
        # What ends with = is followed by a value, not by a space.
        if [[ $value == *= ]]; then open+=("$value"); elif [[ -n $value ]]; then plain+=("$value"); fi
    done
    compset -P 1 '*='
    if (( $#plain + $#open )); then
        compadd -a plain
        compadd -S '' -a open
    else
        _files
    fi
}
if (( ! $+functions[compdef] )); then
    autoload -Uz compinit && compinit
fi
compdef _mlcheck mlcheck
