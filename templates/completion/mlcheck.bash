# Completion of mlcheck for bash. In ~/.bashrc:  eval "$(mlcheck completion bash)"
_mlcheck() {
    local words=() last=-1 word value
    for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
        # Bash parts --report=junit at the = sign: put it together again.
        if ((last >= 0)) && [[ $word == = || (${words[last]} == *= && $word != -*) ]]; then
            words[last]+=$word
        else
            words[++last]=$word
        fi
    done
    COMPREPLY=()
    while IFS= read -r value; do
        [[ -n $value ]] && COMPREPLY+=("$value")
    done < <("$1" completion candidates -- "${words[@]}" 2>/dev/null </dev/null)
    if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]]; then
        compopt -o nospace 2>/dev/null
    fi
    return 0
}
complete -o bashdefault -o default -F _mlcheck mlcheck
