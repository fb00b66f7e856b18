/** The agents of a host: defined in code, from packs in the host's folders, and from packs that tenants installed. */
import {
  type AgentInventoryEntry,
  type AgentRef,
  agentRefOf,
  type Discovery,
  type InstalledPack,
  isoTime,
  TerminalError,
} from '@cairn/protocol';
import type { Redactor } from '../engine/ports.ts';
import { refuseSecrets } from '../engine/values/redacted.ts';
import type { Definitions, Payer } from '../log/ports/definitions.ts';
import type { Packs } from '../log/ports/packs.ts';
import type { DefinedAgent } from './define-agent.ts';
import { inventoryEntry } from './inventory.ts';
import { agentIdsOf, type KnownPack, knownFrom, recordOf, withoutBody } from './known-pack.ts';
import { oneAtATime } from './one-at-a-time.ts';
import { type OwnAgent, ownAgents, ownEntry } from './own-agents.ts';
import { type CheckedPack, checkPack } from './packs/check-pack.ts';
import type { StoredAgent } from './packs/pack-agents.ts';
import type { PackFiles } from './packs/pack-files.ts';
import { unmetPeers } from './packs/requirements.ts';
import type { TrustPolicy } from './packs/signature.ts';

export interface AgentRegistryPorts {
  readonly definitions: Pick<Definitions, 'put'>;
  readonly packs: Packs;
  readonly now: () => number;
  readonly policy: TrustPolicy;
  /** The quota of a tenant, which the definitions of its packs take from. Default: none. */
  readonly maxTenantBytes?: number | undefined;
  readonly discovery: Discovery;
  /** Detects secrets, which must not be stored. Default: none. */
  readonly redactor?: Redactor | null;
}

/** The current version of an agent: its content hash, and its reference on the wire. */
export interface KnownAgent {
  readonly agentId: string;
  readonly hash: string;
  readonly ref: AgentRef;
}

/** Agents that may hand off work to each other: those of one pack, or those defined in the host's code. */
export type HandoffGroup = readonly KnownAgent[];

/** Most packs of one tenant: the inventory returns all of them in one response. */
export const MAX_PACKS = 100;

export class AgentRegistry {
  readonly #ports: AgentRegistryPorts;
  readonly #host = new Map<string, KnownPack>();
  #own: readonly OwnAgent[] = [];
  readonly #ownEntries = new WeakMap<OwnAgent, AgentInventoryEntry>();
  /** Serializes changes, so that the result of a check still holds when its pack is written. */
  readonly #inTurn = oneAtATime();

  constructor(ports: AgentRegistryPorts) {
    this.#ports = ports;
  }

  /** Registers the agents defined in the host's code, for all tenants, instead of those registered before. */
  defineOwn(agents: readonly DefinedAgent[], version: string): Promise<void> {
    return this.#inTurn(async () => {
      const own = ownAgents(agents, version);
      const ofPacks = new Set([...this.#host.values()].flatMap(agentIdsOf));
      const twin = own.find(({ agentId }) => ofPacks.has(agentId));
      if (twin !== undefined) throw ownTwin(twin.agentId);
      for (const { agentId, definition } of own) this.#refuseSecrets(`The agent ${agentId}`, definition.body);
      await this.#keepAgents(own.map(({ definition }) => definition));
      this.#own = own;
    });
  }

  /** Installs a pack for all tenants until the host stops. Returns what the host registers of it itself. */
  installForHost(
    files: PackFiles,
    options: { readonly mayBeUnsigned?: boolean } = {},
  ): Promise<Pick<CheckedPack, 'workflows' | 'templates'>> {
    return this.#inTurn(async () => {
      const known = [...this.#host.values()];
      const pack = this.#checked(files, known, options.mayBeUnsigned);
      const { name } = pack.manifest;
      if (this.#host.has(name)) throw takenName(name, 'another folder has it, too');
      this.#refuseTwins(pack, known);
      await this.#keepAgents(pack.agents);
      const { manifest, hash, signedBy } = pack;
      const agents = pack.agents.map(withoutBody);
      this.#host.set(name, { manifest, hash, signedBy, agents, scope: 'host', installedAt: this.#ports.now() });
      return pack;
    });
  }

  /** Installs a pack for one tenant. Reinstalling it is no error; another version replaces the installed one. */
  install(tenant: string, files: PackFiles): Promise<InstalledPack> {
    return this.#inTurn(async () => {
      const known = await this.#visible(tenant);
      const pack = this.#checked(files, known);
      const { name } = pack.manifest;
      if (this.#host.has(name)) throw takenName(name, 'it is installed for the whole host');
      this.#refuseTwins(pack, known);
      refuseTooMany(name, known);
      await this.#keepAgents(pack.agents, { tenant, maxTenantBytes: this.#ports.maxTenantBytes });
      const installedAt = this.#ports.now();
      await this.#ports.packs.put(recordOf(tenant, pack, installedAt));
      return this.#shown({ ...pack, agents: pack.agents.map(withoutBody), scope: 'tenant', installedAt });
    });
  }

  /** Throws `not_found` for a pack that the tenant did not install, even if the host has it. */
  remove(tenant: string, name: string): Promise<void> {
    return this.#inTurn(async () => {
      const known = await this.#visible(tenant);
      const dependent = known.find(({ manifest }) => Object.hasOwn(manifest.dependencies ?? {}, name));
      const isOwn = known.some(({ manifest, scope }) => manifest.name === name && scope === 'tenant');
      if (isOwn && dependent !== undefined) throw stillNeeded(name, dependent.manifest.name);
      if (!isOwn || !(await this.#ports.packs.drop(tenant, name))) throw noPack(name);
    });
  }

  /** Sorted by name. */
  async packs(tenant: string): Promise<readonly InstalledPack[]> {
    const known = await this.#visible(tenant);
    return known.map((pack) => this.#shown(pack)).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Sorted by id. */
  async agents(tenant: string): Promise<readonly AgentInventoryEntry[]> {
    const { discovery } = this.#ports;
    const ofPacks = (await this.#visible(tenant)).flatMap(({ manifest }) =>
      (manifest.agents ?? []).map((agent) => inventoryEntry(agent, manifest, discovery)),
    );
    const entries = [...this.#own.map((agent) => this.#ownEntry(agent)), ...ofPacks];
    return entries.sort((a, b) => (a.agentId < b.agentId ? -1 : 1));
  }

  /** Agents of the program do not change, and every message asks for them. */
  #ownEntry(agent: OwnAgent): AgentInventoryEntry {
    const entry = this.#ownEntries.get(agent) ?? ownEntry(agent, this.#ports.discovery);
    this.#ownEntries.set(agent, entry);
    return entry;
  }

  /**
   * The handoff groups in which the tenant finds these agents, and perhaps others. The host's own come first, and take
   * no look at the store: every message to an agent asks for its group.
   */
  async handoffGroups(tenant: string, wanted: readonly string[]): Promise<readonly HandoffGroup[]> {
    const own = this.#own.map(({ agentId, definition, ref }) => ({ agentId, hash: definition.hash, ref }));
    const ofHost = [own, ...[...this.#host.values()].map(handoffGroupOf)];
    const known = new Set(ofHost.flat().map(({ agentId }) => agentId));
    if (wanted.every((agentId) => known.has(agentId))) return ofHost;
    return [own, ...(await this.#visible(tenant)).map(handoffGroupOf)];
  }

  /** The definition of an agent; null if there is none. */
  async hashOf(tenant: string, wanted: string): Promise<string | null> {
    const groups = await this.handoffGroups(tenant, [wanted]);
    return groups.flat().find(({ agentId }) => agentId === wanted)?.hash ?? null;
  }

  /**
   * Packs and agents of the host take precedence over a tenant's with the same name or agent: the operator put them
   * there.
   */
  async #visible(tenant: string): Promise<readonly KnownPack[]> {
    const host = [...this.#host.values()];
    const taken = new Set([...this.#own, ...host.flatMap(({ agents }) => agents)].map(({ agentId }) => agentId));
    const own = (await this.#ports.packs.list(tenant)).map(knownFrom);
    const visible = own.filter(
      (pack) => !this.#host.has(pack.manifest.name) && !agentIdsOf(pack).some((agentId) => taken.has(agentId)),
    );
    return [...host, ...visible];
  }

  #checked(files: PackFiles, known: readonly KnownPack[], mayBeUnsigned = false): CheckedPack {
    const { policy: usual, discovery } = this.#ports;
    const policy = mayBeUnsigned ? { ...usual, allowUnsigned: true } : usual;
    const pack = checkPack(files, { policy, discovery, installed: known.map(({ manifest }) => manifest) });
    const { manifest, agents, templates } = pack;
    this.#refuseSecrets(`The pack ${manifest.name}`, [manifest, ...agents.map(({ body }) => body), templates]);
    return pack;
  }

  /** Pack names nest, so two packs may claim one agent: `a.b.c` and `a.b.c.d` both contain `a.b.c.d.e`. */
  #refuseTwins({ manifest }: CheckedPack, known: readonly KnownPack[]): void {
    const ids = new Set((manifest.agents ?? []).map(({ agentId }) => agentId));
    const own = this.#own.find(({ agentId }) => ids.has(agentId));
    if (own !== undefined) throw ownTwin(own.agentId);
    for (const other of known) {
      if (other.manifest.name === manifest.name) continue;
      const twin = agentIdsOf(other).find((agentId) => ids.has(agentId));
      if (twin === undefined) continue;
      throw new TerminalError('conflict', {
        message: `The agent ${twin} is there already, from the pack ${other.manifest.name}.`,
        hint: 'Remove that pack first, or give the agent another id.',
        details: { agentId: twin, packName: other.manifest.name },
      });
    }
  }

  /** Definitions are stored verbatim, so they must contain no secrets. */
  #refuseSecrets(what: string, value: unknown): void {
    refuseSecrets(this.#ports.redactor ?? null, what, value);
  }

  async #keepAgents(agents: readonly StoredAgent[], payer?: Payer): Promise<void> {
    for (const { hash, body } of agents) await this.#ports.definitions.put(hash, body, payer);
  }

  #shown({ manifest, scope, hash, signedBy, installedAt }: KnownPack): InstalledPack {
    const { name, version, agents = [] } = manifest;
    return {
      name,
      version,
      scope,
      hash,
      signedBy,
      installedAt: isoTime(installedAt),
      agents: agents.map(({ agentId, modelClass }) => ({ agentId, modelClass })),
      degraded: [...unmetPeers(manifest, this.#ports.discovery)],
    };
  }
}

function refuseTooMany(name: string, known: readonly KnownPack[]): void {
  const others = known.filter(({ manifest, scope }) => scope === 'tenant' && manifest.name !== name);
  if (others.length < MAX_PACKS) return;
  throw new TerminalError('conflict', {
    message: `The tenant has ${MAX_PACKS} packs, and may have no more.`,
    hint: 'Remove one that is not needed.',
    details: { maxPacks: MAX_PACKS },
  });
}

function handoffGroupOf({ manifest, agents }: KnownPack): HandoffGroup {
  const hashes = new Map(agents.map(({ agentId, hash }) => [agentId, hash]));
  return (manifest.agents ?? []).flatMap((agent) => {
    const hash = hashes.get(agent.agentId);
    return hash === undefined ? [] : [{ agentId: agent.agentId, hash, ref: agentRefOf(agent, manifest.version) }];
  });
}

const ownTwin = (agentId: string): TerminalError =>
  new TerminalError('conflict', {
    message: `There are two agents ${agentId}: one from a pack, one from the code of this host.`,
    hint: 'Give one of the two another id.',
    details: { agentId },
  });

const takenName = (name: string, reason: string): TerminalError =>
  new TerminalError('conflict', {
    message: `The pack ${name} cannot be installed: ${reason}.`,
    hint: 'Give the pack another name, or ask the operator of the host.',
    details: { packName: name },
  });

const stillNeeded = (name: string, dependent: string): TerminalError =>
  new TerminalError('conflict', {
    message: `The pack ${name} cannot be removed: ${dependent} depends on it.`,
    hint: `Remove ${dependent} first.`,
    details: { packName: name, dependent },
  });

const noPack = (name: string): TerminalError =>
  new TerminalError('not_found', {
    message: /^[a-z][\w.-]{0,255}$/.test(name)
      ? `There is no pack "${name}" of this tenant.`
      : 'There is no such pack of this tenant: this is no name of a pack.',
    hint: 'GET /v1/host/cairn/packs lists them; packs of the host itself are removed from its folders.',
  });
