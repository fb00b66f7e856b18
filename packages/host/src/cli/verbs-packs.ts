/** The verbs of agents: who there is, and `cairn pack …`, with and without a host. */
import type { Command } from 'commander';
import type { HostFlags } from './find-host.ts';
import type { InitFlags, SignFlags, VerifyPackFlags } from './pack-folder.ts';
import type { Terminal } from './terminal.ts';
import { ends, repeated, withExamples, withHostOptions } from './verb.ts';

export function addPackVerbs(cairn: Command, terminal: Terminal): void {
  cairn.commandsGroup('Agents:');
  addAgents(cairn, terminal);
  addTools(cairn, terminal);
  addCalibration(cairn, terminal);
  const pack = cairn
    .command('pack')
    .description('packs of agents: make, check, sign, install and remove them')
    .helpCommand(false);
  addMaking(pack, terminal);
  addSigning(pack, terminal);
  addInstalling(pack, terminal);
  withExamples(
    pack,
    ['cairn pack init desk', 'a pack to begin with, in a folder of its own'],
    ['cairn pack add desk', 'on the host that runs here'],
    ['cairn pack sign desk --key acme.pem --key-id acme-2026', 'for hosts that trust the key'],
  );
}

function addAgents(cairn: Command, terminal: Terminal): void {
  const agents = withHostOptions(cairn.command('agents [agent]').description('who can be asked to work')).action(
    (agentId: string | undefined, flags: HostFlags) =>
      ends(terminal, async () => (await import('./agents.ts')).agents(terminal, agentId, flags)),
  );
  withExamples(
    agents,
    ['cairn agents', 'all of them'],
    ['cairn agents AGENT', 'what one may do, and where it is from'],
  );
}

function addTools(cairn: Command, terminal: Terminal): void {
  const tools = withHostOptions(cairn.command('tools [tool]').description('what agents can be let call')).action(
    (toolId: string | undefined, flags: HostFlags) =>
      ends(terminal, async () => (await import('./tools.ts')).tools(terminal, toolId, flags)),
  );
  withExamples(tools, ['cairn tools', 'all of them'], ['cairn tools openwop:fs.write', 'what one takes']);
}

function addCalibration(cairn: Command, terminal: Terminal): void {
  const calibration = withHostOptions(
    cairn.command('calibration').description('how sure agents were, against what people said'),
  ).action((flags: HostFlags) =>
    ends(terminal, async () => (await import('./calibration.ts')).calibration(terminal, flags)),
  );
  withExamples(
    calibration,
    ['cairn calibration', 'a line for each tenth of confidence that an agent stated'],
    ['cairn calibration --json | jq .agents[0]', 'the counts as the host gives them'],
  );
}

function addMaking(pack: Command, terminal: Terminal): void {
  pack
    .command('init <folder>')
    .description('begin a pack: a manifest, a prompt, a schema')
    .option('--name <name>', 'the name of the pack; default: made from the folder, in the tier "local"')
    .option('--json', 'print JSON')
    .action((folder: string, flags: InitFlags) =>
      ends(terminal, async () => (await import('./pack-folder.ts')).initPack(terminal, folder, flags)),
    );
  pack
    .command('lint <folder|tarball>')
    .description('check a pack as a host would, but for what only a host can tell')
    .option('--json', 'print JSON')
    .action((name: string, flags: { readonly json?: boolean }) =>
      ends(terminal, async () => (await import('./pack-folder.ts')).lint(terminal, name, flags)),
    );
}

function addSigning(pack: Command, terminal: Terminal): void {
  pack
    .command('sign <folder>')
    .description('sign every file of a pack')
    .requiredOption('--key <file>', 'the Ed25519 private key, PEM')
    .requiredOption('--key-id <id>', 'the name by which hosts know the key')
    .option('--new-key', 'make the key first, in that file')
    .option('--json', 'print JSON')
    .action((folder: string, flags: SignFlags) =>
      ends(terminal, async () => (await import('./pack-folder.ts')).signPack(terminal, folder, flags)),
    );
  pack
    .command('verify <folder|tarball>')
    .description('check who signed a pack, and that no file was changed since')
    .addOption(repeated('--trust <id=key>', 'a key that counts; default: those of cairn.json here or above'))
    .option('--json', 'print JSON')
    .action((name: string, flags: VerifyPackFlags) =>
      ends(terminal, async () => (await import('./pack-folder.ts')).verifyPack(terminal, name, flags)),
    );
}

function addInstalling(pack: Command, terminal: Terminal): void {
  withHostOptions(pack.command('add <folder|tarball>').description('install a pack for your tenant')).action(
    (name: string, flags: HostFlags) =>
      ends(terminal, async () => (await import('./pack-host.ts')).addPack(terminal, name, flags)),
  );
  withHostOptions(pack.command('list').description('the packs of your tenant and of the host')).action(
    (flags: HostFlags) => ends(terminal, async () => (await import('./pack-host.ts')).listPacks(terminal, flags)),
  );
  withHostOptions(pack.command('remove <name>').description('remove a pack of your tenant')).action(
    (name: string, flags: HostFlags) =>
      ends(terminal, async () => (await import('./pack-host.ts')).removePack(terminal, name, flags)),
  );
}
