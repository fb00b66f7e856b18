/** `cairn completion`: prints scripts that complete verbs, options and names in a shell. The host gives the names. */
import type { Command } from 'commander';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

interface Flag {
  readonly flag: string;
  readonly description: string;
}

interface Verb {
  readonly name: string;
  readonly description: string;
  /** Its own options and those of its subverbs. */
  readonly options: readonly Flag[];
  /** The names of its subverbs. */
  readonly below: readonly string[];
  /** The kinds of words of its first argument, as `completion-words.ts` knows them; empty if it knows none. */
  readonly words: string;
}

/** Generated from the program, so it is always up to date. */
export function completionScript(cairn: Command, shell: Shell): string {
  const verbs = cairn.commands.map(
    (command): Verb => ({
      name: command.name(),
      description: command.description(),
      options: flagsIn([command, ...command.commands]),
      below: command.commands.map((one) => one.name()),
      words: wordsOf(command),
    }),
  );
  return { bash, zsh, fish }[shell](verbs);
}

/** The names of arguments that `completion-words.ts` has words for. */
const wordKinds: ReadonlySet<string> = new Set(['run', 'runs', 'entry', 'workflow', 'agent', 'tool', 'type', 'code']);

/** `<run|bundle>` completes runs. */
function wordsOf({ registeredArguments: [first] }: Command): string {
  const kinds = (first?.name() ?? '').split('|').filter((kind) => wordKinds.has(kind));
  return kinds.join('|');
}

/** Each flag once, with its first description. */
function flagsIn(commands: readonly Command[]): readonly Flag[] {
  const flags = new Map<string, string>();
  for (const { options } of commands) {
    for (const { long, description, hidden } of options) {
      if (!hidden && !flags.has(long ?? '')) flags.set(long ?? '', description);
    }
  }
  return [...flags].map(([flag, description]) => ({ flag, description }));
}

const flagsOf = ({ options }: Verb): string => [...options.map(({ flag }) => flag), '--help'].join(' ');
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

const bashVerb = (verb: Verb): string =>
  `    ${verb.name}) local flags=${quoted(flagsOf(verb))} below=${quoted(verb.below.join(' '))} words=${quoted(verb.words)} ;;`;

const bash = (verbs: readonly Verb[]): string => `_cairn() {
  local word="\${COMP_WORDS[COMP_CWORD]}" verb="\${COMP_WORDS[1]}"
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W ${quoted(`${verbs.map(({ name }) => name).join(' ')} --help --version`)} -- "$word"))
    return
  fi
  case "$verb" in
${verbs.map(bashVerb).join('\n')}
    *) return ;;
  esac
  case "$word" in
    -*) COMPREPLY=($(compgen -W "$flags" -- "$word")) ;;
    *) if [ "$COMP_CWORD" -eq 2 ] && [ -n "$below" ]; then COMPREPLY=($(compgen -W "$below" -- "$word"))
       elif [ "$COMP_CWORD" -eq 2 ] && [ -n "$words" ]; then
         COMPREPLY=($(compgen -W "$(cairn completion bash --words "$words" 2>/dev/null)" -- "$word"))
         [ "\${#COMPREPLY[@]}" -gt 0 ] || COMPREPLY=($(compgen -f -- "$word"))
       else COMPREPLY=($(compgen -f -- "$word")); fi ;;
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
${verbs.map((verb) => `    ${verb.name}) ${zshBelow(verb)}_arguments ${zshOptions(verb)} ${zshWords(verb)}'*:file:_files' ;;`).join('\n')}
  esac
}
compdef _cairn cairn
`;

const zshBelow = ({ below }: Verb): string =>
  below.length === 0 ? '' : `(( CURRENT == 3 )) && { compadd ${below.join(' ')}; return }; `;

/** Names with a colon are whole words here, unlike in bash. */
const zshWords = ({ words }: Verb): string =>
  words === ''
    ? ''
    : `'2:${words.replaceAll('|', ' or ')}:{compadd -- $(cairn completion zsh --words ${words.replaceAll('|', '\\|')} 2>/dev/null)}' `;

const zshOptions = ({ options }: Verb): string =>
  options.map(({ flag, description }) => quoted(`${flag}[${description.replaceAll(/[[\]]/g, '')}]`)).join(' ');

const fish = (verbs: readonly Verb[]): string =>
  [
    'complete -c cairn -f',
    ...verbs.flatMap(({ name, description, options, below, words }) => [
      `complete -c cairn -n __fish_use_subcommand -a ${name} -d ${quoted(description)}`,
      ...options.map(
        (option) =>
          `complete -c cairn -n '__fish_seen_subcommand_from ${name}' -l ${option.flag.slice(2)} -d ${quoted(option.description)}`,
      ),
      ...(below.length === 0
        ? []
        : [`complete -c cairn -n '__fish_seen_subcommand_from ${name}' -a ${quoted(below.join(' '))}`]),
      ...(words === ''
        ? []
        : [
            `complete -c cairn -n '__fish_seen_subcommand_from ${name}' -a "(cairn completion fish --words '${words}' 2>/dev/null)"`,
          ]),
      ...(filed.has(name) ? [`complete -c cairn -n '__fish_seen_subcommand_from ${name}' -F`] : []),
    ]),
    '',
  ].join('\n');

/** Verbs that take files as arguments. */
const filed: ReadonlySet<string> = new Set([
  'import',
  'verify',
  'export',
  'workflows',
  'run',
  'start',
  'doctor',
  'pack',
]);
