/** Verbs for other hosts: the peers of a configuration, and identities in other systems. */
import type { Command } from 'commander';
import type { ResolveFlags } from './identity/resolve.ts';
import type { AddPeerFlags } from './peers/add.ts';
import type { CheckPeersFlags } from './peers/check.ts';
import type { ListPeersFlags } from './peers/list.ts';
import type { Terminal } from './terminal.ts';
import { exitWith, repeated, withExamples } from './verb.ts';

export function addHostVerbs(cairn: Command, terminal: Terminal): void {
  cairn.commandsGroup('Other hosts:');
  const peer = cairn
    .command('peer')
    .description('add, list and check the hosts that runs here and there may call each other')
    .helpCommand(false);
  addPeerAdd(peer, terminal);
  addPeerList(peer, terminal);
  addPeerCheck(peer, terminal);
  withExamples(
    peer,
    ['cairn peer add https://beta.example.org', 'write a host to cairn.json'],
    ['cairn peer check --json', 'call every host and show what works'],
  );
  addIdentity(cairn, terminal);
}

const withFile = (command: Command): Command =>
  command
    .option('-c, --config <file>', 'configuration; default: cairn.json here or in a parent folder')
    .option('--json', 'print JSON');

function addPeerAdd(peer: Command, terminal: Terminal): void {
  const add = withFile(peer.command('add <url>').description('write another host to the configuration'))
    .option('--host-id <id>', 'its id; default: the host is asked for it')
    .option('--answers-for-users', 'its answers count where a person must decide')
    .option('--key-env <variable>', 'the variable with the key that it will call with')
    .option('--tenant <tenant>', 'whose runs it may start with that key')
    .option('--principal <name>', 'the name of the key in the log')
    .action((url: string, flags: AddPeerFlags) =>
      exitWith(terminal, async () => (await import('./peers/add.ts')).addPeer(terminal, url, flags)),
    );
  withExamples(
    add,
    ['cairn peer add https://beta.example.org', 'asks the host for its id and writes both to cairn.json'],
    ['cairn peer add https://beta.example.org --key-env BETA_KEY --tenant acme', 'also lets it start runs of acme'],
    ['cairn peer add https://beta.example.org --host-id beta', 'calls nobody'],
  );
}

function addPeerList(peer: Command, terminal: Terminal): void {
  const list = withFile(peer.command('list').description('list the other hosts of the configuration')).action(
    (flags: ListPeersFlags) =>
      exitWith(terminal, async () => (await import('./peers/list.ts')).listPeers(terminal, flags)),
  );
  withExamples(list, ['cairn peer list', 'with their addresses, and whose runs they may start']);
}

function addPeerCheck(peer: Command, terminal: Terminal): void {
  const check = withFile(
    peer
      .command('check [hostId]')
      .description('call other hosts: capabilities, versions, and whether a trace and a cause arrive'),
  )
    .option('--key-env <variable>', 'the variable with your key at that host, to check trace and cause')
    .option('--workflow <id>', 'a workflow of that host without required inputs, to run and check the cause')
    .action((hostId: string | undefined, flags: CheckPeersFlags) =>
      exitWith(terminal, async () => (await import('./peers/check.ts')).checkPeers(terminal, hostId, flags)),
    );
  withExamples(
    check,
    ['cairn peer check', 'every host of cairn.json, without a key'],
    ['cairn peer check beta --key-env BETA_KEY', 'also whether the key is accepted and the trace goes on'],
    ['cairn peer check beta --key-env BETA_KEY --workflow noop', 'also starts a run there, and reads its cause'],
  );
}

function addIdentity(cairn: Command, terminal: Terminal): void {
  const identity = cairn
    .command('identity')
    .description('find out who an agent of another system is')
    .helpCommand(false);
  withExamples(identity, [
    'cairn identity resolve did:web:desk.example.org',
    'the id in runs, and the evidence for it',
  ]);
  const resolve = identity
    .command('resolve <id>')
    .description('show the id of an agent in runs, and the evidence for it: a DID, an agent card or an AGNTCY id')
    .addOption(repeated('--allow <origin>', 'an origin that may be private or without https; repeatable'))
    .option('--key <file>', 'the public key that must have signed the agent card, as a JWK or a set')
    .option('-c, --config <file>', 'the configuration with the A2A peer whose card it is: its headers are sent')
    .option('--json', 'print JSON')
    .action((id: string, flags: ResolveFlags) =>
      exitWith(terminal, async () => (await import('./identity/resolve.ts')).resolveId(terminal, id, flags)),
    );
  withExamples(
    resolve,
    ['cairn identity resolve did:web:desk.example.org', 'fetches https://desk.example.org/.well-known/did.json'],
    ['cairn identity resolve did:key:z6Mk…', 'calls nobody: the key is in the name'],
    ['cairn identity resolve https://desk.example.org', 'fetches the agent card and checks its signature'],
    ['cairn identity resolve https://desk.example.org -c cairn.json', 'with the headers of this A2A peer'],
    ['cairn identity resolve agntcy:gateway.example.org:desk', 'calls nobody: there is no evidence'],
    ['cairn identity resolve did:web:localhost%3A8080 --allow http://localhost:8080', 'a document on this machine'],
  );
}
