/** Verbs for agents, tools and packs. */
import type { Command } from 'commander';
import type { HostFlags } from './find-host.ts';
import type { InitFlags, SignFlags, VerifyPackFlags } from './pack-folder.ts';
import type { Terminal } from './terminal.ts';
import { exitWith, repeated, withExamples, withHostOptions } from './verb.ts';

export function addPackVerbs(cairn: Command, terminal: Terminal): void {
  cairn.commandsGroup('Agents:');
  addAgents(cairn, terminal);
  addTools(cairn, terminal);
  addCalibration(cairn, terminal);
  const pack = cairn
    .command('pack')
    .description('create, check, sign, install and remove packs of agents')
    .helpCommand(false);
  addMaking(pack, terminal);
  addSigning(pack, terminal);
  addInstalling(pack, terminal);
  withExamples(
    pack,
    ['cairn pack init desk', 'create a pack in the folder desk'],
    ['cairn pack add desk', 'install it on the host'],
    ['cairn pack sign desk --key acme.pem --key-id acme-2026', 'sign it for hosts that trust the key'],
  );
}

function addAgents(cairn: Command, terminal: Terminal): void {
  const agents = withHostOptions(cairn.command('agents [agent]').description('list agents, or show one')).action(
    (agentId: string | undefined, flags: HostFlags) =>
      exitWith(terminal, async () => (await import('./agents.ts')).agents(terminal, agentId, flags)),
  );
  withExamples(
    agents,
    ['cairn agents', 'list all agents'],
    ['cairn agents AGENT', 'show its tools, its pack and how to run it'],
  );
}

function addTools(cairn: Command, terminal: Terminal): void {
  const tools = withHostOptions(
    cairn.command('tools [tool]').description('list tools that agents can call, or show one'),
  ).action((toolId: string | undefined, flags: HostFlags) =>
    exitWith(terminal, async () => (await import('./tools.ts')).tools(terminal, toolId, flags)),
  );
  withExamples(tools, ['cairn tools', 'list all tools'], ['cairn tools openwop:fs.write', 'show its arguments']);
}

function addCalibration(cairn: Command, terminal: Terminal): void {
  const calibration = withHostOptions(
    cairn.command('calibration').description('compare the confidence of agents with human verdicts'),
  ).action((flags: HostFlags) =>
    exitWith(terminal, async () => (await import('./calibration.ts')).calibration(terminal, flags)),
  );
  withExamples(
    calibration,
    ['cairn calibration', 'one line for each tenth of stated confidence'],
    ['cairn calibration --json | jq .agents[0]', 'the raw counts'],
  );
}

function addMaking(pack: Command, terminal: Terminal): void {
  pack
    .command('init <folder>')
    .description('create a pack: a manifest, a prompt, a schema')
    .option('--name <name>', 'name of the pack; default: derived from the folder, in the tier "local"')
    .option('--json', 'print JSON')
    .action((folder: string, flags: InitFlags) =>
      exitWith(terminal, async () => (await import('./pack-folder.ts')).initPack(terminal, folder, flags)),
    );
  pack
    .command('lint <folder|tarball>')
    .description('check a pack as a host would, without a host')
    .option('--json', 'print JSON')
    .action((name: string, flags: { readonly json?: boolean }) =>
      exitWith(terminal, async () => (await import('./pack-folder.ts')).lint(terminal, name, flags)),
    );
}

function addSigning(pack: Command, terminal: Terminal): void {
  pack
    .command('sign <folder>')
    .description('sign all files of a pack')
    .requiredOption('--key <file>', 'file with the Ed25519 private key, PEM')
    .requiredOption('--key-id <id>', 'id of the key in packs.trust of a host')
    .option('--new-key', 'create the key first, in that file')
    .option('--json', 'print JSON')
    .action((folder: string, flags: SignFlags) =>
      exitWith(terminal, async () => (await import('./pack-folder.ts')).signPack(terminal, folder, flags)),
    );
  pack
    .command('verify <folder|tarball>')
    .description('check the signature of a pack and the integrity of its files')
    .addOption(
      repeated('--trust <id=key>', 'trusted key; default: packs.trust of cairn.json here or in a parent folder'),
    )
    .option('--json', 'print JSON')
    .action((name: string, flags: VerifyPackFlags) =>
      exitWith(terminal, async () => (await import('./pack-folder.ts')).verifyPack(terminal, name, flags)),
    );
}

function addInstalling(pack: Command, terminal: Terminal): void {
  withHostOptions(pack.command('add <folder|tarball>').description('install a pack for your tenant')).action(
    (name: string, flags: HostFlags) =>
      exitWith(terminal, async () => (await import('./pack-host.ts')).addPack(terminal, name, flags)),
  );
  withHostOptions(pack.command('list').description('list the packs of your tenant and of the host')).action(
    (flags: HostFlags) => exitWith(terminal, async () => (await import('./pack-host.ts')).listPacks(terminal, flags)),
  );
  withHostOptions(pack.command('remove <name>').description('remove a pack of your tenant')).action(
    (name: string, flags: HostFlags) =>
      exitWith(terminal, async () => (await import('./pack-host.ts')).removePack(terminal, name, flags)),
  );
}
