/** Data that people did not think of: very long names, text of other directions, very many child runs, large values. */
import type { ContextId, RunId } from '@cairn/protocol';
import { defineAgent } from '../../packages/host/src/index.ts';
import { creation, row, started } from '../../packages/host/src/log/ports/samples.kit.ts';
import type { Stage } from './stage.ts';

const LONG = 'Donaudampfschifffahrtsgesellschaft'.repeat(60);
/** The mark at its beginning turns the direction of what follows, also beyond its end. */
const TURNED = '\u202Eשלום, עולם! مرحبا بالعالم \u202E';
const EMOJI = '👩‍👩‍👧‍👦🏴‍☠️🇨🇭'.repeat(40);

const hostileTexts = [LONG, TURNED, EMOJI] as const;

const babbler = defineAgent({
  id: 'host:babbler',
  persona: LONG.slice(0, 100),
  label: `${TURNED}${LONG}`.slice(0, 100),
  description: `${TURNED} ${EMOJI} ${LONG}`.slice(0, 400),
  instructions: 'You say too much.',
  rehearsal: { turns: [[{ think: LONG }, { say: `# ${TURNED}\n\n${LONG}\n\n${EMOJI}\n\n\`\`\`\n${LONG}\n\`\`\`` }]] },
});

export const hostileApp = { agents: [babbler], tools: [] };

const CHILDREN = 10_000;
/** Of one event. An event has at most 1 MiB. */
const LARGE = 1_000_000;
const LARGE_EVENTS = 5;

export interface HostilePlaces {
  /** A run of 10,000 child runs. */
  readonly family: string;
  /** A run of as many that are all open. */
  readonly openFamily: string;
  /** A run whose events hold 5 MB. */
  readonly large: string;
  /** A conversation with somebody who says too much, and a file of 5 MB in it. */
  readonly talk: string;
  /** A run with a name of each kind. */
  readonly named: string;
}

export async function hostile(stage: Stage): Promise<HostilePlaces> {
  const { client, store } = stage;
  const tenant = 'dev';
  const named: string[] = [];
  for (const text of hostileTexts) {
    const tags = [text.slice(0, 200), TURNED];
    named.push((await client.runs.create({ workflowId: 'review', inputs: { title: text }, tags })).runId);
  }
  // The host shows a run to its owner, and together with its definition.
  const definitionHash = (await store.log.head(named[0] as RunId))?.record.definitionHash;
  const owner = { tenant, principal: 'ada' };
  const begun = (fields: object = {}) => started({ definitionHash, workflowId: 'review', owner, ...fields });
  const family = 'run_family' as RunId;
  const contextId = 'ctx_family' as ContextId;
  await store.log.append(creation(family, { create: { tenant, contextId, originRunId: family }, rows: [begun()] }));
  for (let n = 0; n < CHILDREN; n += 1) {
    const childRunId = `run_family.${n}` as RunId;
    const create = { tenant, contextId, originRunId: childRunId, parentRunId: family };
    const rows = [begun({ parentRunId: family }), row('run.completed')];
    await store.log.append(creation(childRunId, { create, rows }));
  }
  for (let n = 0; n < CHILDREN; n += 500) {
    const rows = Array.from({ length: 500 }, (_, i) => childRows(`run_family.${n + i}`)).flat();
    await store.log.append({ runId: family, rows });
  }
  const openFamily = 'run_open' as RunId;
  const openContext = 'ctx_open' as ContextId;
  await store.log.append(
    creation(openFamily, { create: { tenant, contextId: openContext, originRunId: openFamily }, rows: [begun()] }),
  );
  for (let n = 0; n < CHILDREN; n += 500) {
    const rows = Array.from({ length: 500 }, (_, i) => childStart(`run_open.${n + i}`));
    await store.log.append({ runId: openFamily, rows });
  }
  const large = 'run_large' as RunId;
  await store.log.append(
    creation(large, { create: { tenant, contextId: 'ctx_large' as ContextId, originRunId: large }, rows: [begun()] }),
  );
  for (let n = 0; n < LARGE_EVENTS; n += 1)
    await store.log.append({
      runId: large,
      rows: [row('acme.large', { payload: JSON.stringify({ n, text: 'x'.repeat(LARGE) }) })],
    });
  const talk = client.context();
  const { taskId } = await talk.send(`${TURNED} ${LONG}`, { agentId: 'host:babbler' });
  await client.runs.wait(taskId);
  await talk.artifacts.save(`${LONG.slice(0, 100)}.txt`, `${LONG}\n`.repeat(2_500), {});
  return { family, openFamily, large, talk: talk.id ?? '', named: named[0] ?? '' };
}

const nodeId = 'each';

function childStart(childRunId: string) {
  const begun = { nodeId, childRunId, childWorkflowId: 'child' };
  return row('node.dispatched', { nodeId, payload: JSON.stringify(begun) });
}

/** The start and the end of a child run in the log of its parent. */
function childRows(childRunId: string) {
  const [callId, step, attempt] = [childRunId, 'child', 1] as const;
  const ended = { nodeId, callId, step, attempt, childRunId, outcome: { status: 'completed' } };
  return [childStart(childRunId), row('cairn.step.returned', { nodeId, payload: JSON.stringify(ended) })];
}
