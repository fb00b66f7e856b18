/** `cairn completion`: scripts that let a shell complete verbs, options and the values that are known beforehand. */
import type { Command } from 'commander';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

interface Verb {
  readonly name: string;
  readonly description: string;
  readonly options: readonly { readonly flag: string; readonly description: string }[];
}

/** Made from the program itself, so that it knows what the program knows. */
export function completionScript(cairn: Command, shell: Shell): string {
  const verbs = cairn.commands.map(
    (command): Verb => ({
      name: command.name(),
      description: command.description(),
      options: command.options.map(({ long, description }) => ({ flag: long ?? '', description })),
    }),
  );
  return { bash, zsh, fish }[shell](verbs);
}

const flagsOf = ({ options }: Verb): string => [...options.map(({ flag }) => flag), '--help'].join(' ');
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

const bash = (verbs: readonly Verb[]): string => `_cairn() {
  local word="\${COMP_WORDS[COMP_CWORD]}" verb="\${COMP_WORDS[1]}"
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W ${quoted(`${verbs.map(({ name }) => name).join(' ')} --help --version`)} -- "$word"))
    return
  fi
  case "$verb" in
${verbs.map((verb) => `    ${verb.name}) local flags=${quoted(flagsOf(verb))} ;;`).join('\n')}
    *) return ;;
  esac
  case "$word" in
    -*) COMPREPLY=($(compgen -W "$flags" -- "$word")) ;;
    *) COMPREPLY=($(compgen -f -- "$word")) ;;
  esac
}
complete -o filenames -F _cairn cairn
`;

const zsh = (verbs: readonly Verb[]): string => `#compdef cairn
_cairn() {
  local -a verbs
  verbs=(
${verbs.map(({ name, description }) => `    ${quoted(`${name}:${description}`)}`).join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe verb verbs
    return
  fi
  case "$words[2]" in
${verbs.map((verb) => `    ${verb.name}) _arguments ${zshOptions(verb)} '*:file:_files' ;;`).join('\n')}
  esac
}
compdef _cairn cairn
`;

const zshOptions = ({ options }: Verb): string =>
  options.map(({ flag, description }) => quoted(`${flag}[${description.replaceAll(/[[\]]/g, '')}]`)).join(' ');

const fish = (verbs: readonly Verb[]): string =>
  [
    'complete -c cairn -f',
    ...verbs.flatMap(({ name, description, options }) => [
      `complete -c cairn -n __fish_use_subcommand -a ${name} -d ${quoted(description)}`,
      ...options.map(
        (option) =>
          `complete -c cairn -n '__fish_seen_subcommand_from ${name}' -l ${option.flag.slice(2)} -d ${quoted(option.description)}`,
      ),
      ...(filed.has(name) ? [`complete -c cairn -n '__fish_seen_subcommand_from ${name}' -F`] : []),
    ]),
    '',
  ].join('\n');

/** Verbs whose arguments are files. */
const filed: ReadonlySet<string> = new Set(['import', 'verify', 'export', 'workflows', 'run', 'start', 'doctor']);
