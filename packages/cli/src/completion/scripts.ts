export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/**
 * All of these only ask `ambientctl __complete -- WORDS…`, which answers with a directive line and one candidate a
 * line (`value TAB description`).
 */
export const SCRIPTS: Readonly<Record<Shell, string>> = {
  // Works with the bash 3.2 of macOS: no mapfile, no associative arrays.
  bash: `# Completion of ambientctl for bash: source <(ambientctl completion bash)
_ambientctl() {
  local line first=1 IFS=$'\\n'
  COMPREPLY=()
  while IFS= read -r line; do
    if [ "$first" = 1 ]; then
      first=0
      [ "$line" = files ] && type compopt >/dev/null 2>&1 && compopt -o default
      continue
    fi
    COMPREPLY+=("$(printf '%q' "\${line%%$'\\t'*}")")
  done < <("\${COMP_WORDS[0]}" __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _ambientctl ambientctl
`,
  zsh: `#compdef ambientctl
# Completion of ambientctl for zsh: source <(ambientctl completion zsh)
_ambientctl() {
  local -a lines candidates
  local line
  lines=("\${(@f)$("\${words[1]}" __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  for line in "\${(@)lines[2,-1]}"; do
    candidates+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  (( $#candidates )) && _describe -V ambientctl candidates
  [[ "$lines[1]" == files ]] && _files
}
if [[ "$funcstack[1]" == _ambientctl ]]; then _ambientctl "$@"; else compdef _ambientctl ambientctl; fi
`,
  fish: `# Completion of ambientctl for fish: ambientctl completion fish | source
function __ambientctl_complete
  set -l before (commandline -opc)
  set -l current (commandline -ct)
  set -l lines ($before[1] __complete -- $before[2..-1] "$current" 2>/dev/null)
  test "$lines[1]" = files; and __fish_complete_path "$current"
  test (count $lines) -gt 1; and printf '%s\\n' $lines[2..-1]
end
complete -c ambientctl -f -k -a '(__ambientctl_complete)'
`,
};
