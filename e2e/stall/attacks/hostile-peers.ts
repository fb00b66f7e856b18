/**
 * Runs that call hostile peers, or whose agents are declared to be somebody on a hostile host: each must end, with a
 * documented code, and hold no more than its limits.
 */
import type { Attack } from '../attack.ts';
import type { Attacker } from '../attacker.ts';
import { heldBy } from '../hostile-peers.ts';
import { callerOf, hasDid, hostileKinds } from '../tenants.ts';

const CALLS = 24;
/** What the buffers of both sockets take before a connection is closed, and how late it may be. */
const [BUFFERS, LATE_MS] = [8 * 1_048_576, 5_000];

interface Limits {
  readonly calls: number;
  readonly bytes: number;
  readonly ms: number;
}

/** `maxCallsAtOnce`, `maxResponseBytes` and `timeoutMs` of the host. */
const ofCalls: Limits = { calls: 16, bytes: 1_000_000, ms: 3_000 };
/** Of a document, and of the key set that a card names. */
const ofDocuments: Limits = { calls: 2, bytes: 131_072, ms: 3_000 };

/** The host called the peer, and let it hold no more than its limits. */
function judge(attacker: Attacker, name: string, limits: Limits): void {
  const { calls, mostOpen, mostBytes, longestMs } = heldBy(name);
  if (calls === 0) attacker.fault(`${name} was never called`);
  if (mostOpen > limits.calls) attacker.fault(`${name} had ${mostOpen} calls at once`);
  if (mostBytes > limits.bytes + BUFFERS) attacker.fault(`${name} could send ${mostBytes} bytes in one call`);
  if (longestMs > limits.ms + LATE_MS) attacker.fault(`${name} held a call for ${Math.round(longestMs)} ms`);
}

/** Many calls at a time: more than a peer may have at once. */
const a2aAttack = (kind: string): Attack => ({
  name: `peers-a2a-${kind}`,
  async run(attacker) {
    const id = `peer-${kind}`;
    const node = { id: 'ask', typeId: 'core.a2a.invoke', config: { peer: kind, prompt: 'Go.' } };
    if (!(await attacker.register(id, { nodes: [node] }))) return attacker.fault('the workflow was refused');
    const runs = await Promise.all(Array.from({ length: CALLS }, () => attacker.start(id)));
    await Promise.all(runs.map((runId) => attacker.ended(runId)));
    judge(attacker, `a2a/${kind}`, ofCalls);
    // The run records who the peer is, by its card.
    judge(attacker, `card/${kind}`, ofDocuments);
  },
});

const mcpAttack = (kind: string): Attack => ({
  name: `peers-mcp-${kind}`,
  async run(attacker) {
    const said = await Promise.all(Array.from({ length: CALLS }, () => attacker.say(callerOf(kind))));
    await Promise.all(said.map((one) => attacker.ended(one?.taskId ?? null)));
    judge(attacker, `mcp/${kind}`, ofCalls);
    if (hasDid(kind)) judge(attacker, `did/${kind}`, ofDocuments);
  },
});

export const hostilePeerAttacks: readonly Attack[] = hostileKinds.flatMap((kind) => [a2aAttack(kind), mcpAttack(kind)]);
