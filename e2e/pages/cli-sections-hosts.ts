/** The sections of the command-line page about other hosts. */
import type { Section } from './cli-section.ts';

export const otherHosts: readonly Section[] = [
  {
    verb: 'peer',
    subVerbs: ['add', 'list', 'check'],
    prose:
      'Manages the [other hosts](peers.md) of a configuration. `add` writes a host to the file, validates the result first, and leaves everything else in the file as it is. `list` shows the hosts, and whose runs they may start; it shows no key. `check` calls them: capabilities, versions, and with your key whether a trace arrives. With `--workflow` it also starts a run there and reads its cause. It exits with 1 if something does not work.',
    steps: [
      {
        command: 'cairn peer add https://beta.example.org --host-id beta --config alpha.json',
        files: { 'alpha.json': '{ "hostId": "alpha" }\n' },
      },
      { command: 'cairn peer list --config alpha.json' },
      { command: 'cairn peer check gamma --config alpha.json' },
    ],
  },
  {
    verb: 'identity',
    subVerbs: ['resolve'],
    prose:
      'Shows which id an agent [of another system](identity.md#identities-in-other-systems) has in runs, and the evidence for it. It uses the same rules and limits as a host. It exits with 4 if the card has a wrong signature.',
    steps: [
      { command: 'cairn identity resolve did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK' },
      { command: 'cairn identity resolve agntcy:gateway.example.org:desk' },
      { command: 'cairn identity resolve http://169.254.169.254/card.json' },
    ],
  },
];
