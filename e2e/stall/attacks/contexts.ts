/** Conversations: large contexts, many readers, floods of messages, artifacts of a gigabyte, long filters. */
import { type JsonObject, MAX_BULK_CANCEL, taskEventKinds } from '@cairn/protocol';
import { objects } from '../../../packages/host/test/kit/json-fields.ts';
import type { Attack } from '../attack.ts';
import type { Attacker, Watch } from '../attacker.ts';
import { QUICK, TALKER, WRITER } from '../tenants.ts';

const RUNS = 10_000;
/** A batch stays below the starts that a tenant may make in a second. */
const BATCH = 100;

const sse = 'Accept: text/event-stream';

/** A context of so many runs of one node. Null when the host refuses it. */
async function contextOfRuns(
  attacker: Attacker,
  id: string,
  { typeId, config = {} }: { readonly typeId: string; readonly config?: JsonObject },
): Promise<string | null> {
  if (!(await attacker.register(id, { nodes: [{ id: 'n', typeId, config }] }))) return null;
  const { body } = await attacker.send(`/v1/runs/${await attacker.start(id)}`);
  const contextId = String(body.contextId);
  for (let begun = 0; begun < RUNS; begun += BATCH) {
    const started = await Promise.all(Array.from({ length: BATCH }, () => attacker.start(id, {}, contextId)));
    if (started.includes(null)) await attacker.quiet(200);
  }
  return contextId;
}

/** Reads pages, the tasks and the stream of a context, from many places. */
async function readEverywhere(attacker: Attacker, contextId: string): Promise<void> {
  const path = `/api/contexts/${contextId}`;
  const { body } = await attacker.send(`${path}/tasks?limit=100`);
  const head = Number(body.head);
  const places = Array.from({ length: 200 }, (_, i) => Math.floor((head * i) / 200));
  await Promise.all(places.map((after) => attacker.send(`${path}/events?limit=500&after=${after}`)));
  // Hardly any event is shown, so that a page has to look at many rows.
  await Promise.all(places.map((after) => attacker.send(`${path}/events?kinds=error&limit=500&after=${after}`)));
  await attacker.unread(20, attacker.request(`${path}/stream?after=0`, [sse]));
  await attacker.unread(20, attacker.request(`${path}/stream`, [sse]));
  for (const { taskId } of objects(body.tasks ?? []).slice(0, 20))
    await attacker.send(`${path}/tasks/${String(taskId)}`);
}

/** So many readers of a context while an agent says 20,000 pieces in it. */
const readersAttack = (name: string, count: number, queryOf: (i: number) => string): Attack => ({
  name,
  async run(attacker) {
    const first = await attacker.say(TALKER);
    if (first === null) return;
    await attacker.ended(first.taskId);
    const path = (i: number) => `/api/contexts/${first.contextId}/stream?after=latest&${queryOf(i)}`;
    const watches: Watch[] = [];
    for (let i = 0; i < count; i++) watches.push(await attacker.watch(attacker.request(path(i), [sse])));
    await attacker.quiet(1_000);
    const second = await attacker.say(TALKER, { contextId: first.contextId });
    if (second === null) return;
    await attacker.ended(second.taskId);
    // Only the last event of a task has it, near its end.
    await attacker.allEndWith(watches, '"activeMs":');
  },
});

/** Different filters that all show text, and the end of a task. */
function filterOf(i: number): string {
  const shown: readonly string[] = ['content-delta', 'task-complete'];
  const hidden = taskEventKinds.filter((kind, place) => !shown.includes(kind) && ((i >> (place % 10)) & 1) === 1);
  return `verbosity=${['brief', 'normal', 'detailed'][i % 3]}${hidden.length === 0 ? '' : `&excludeKinds=${hidden.join()}`}`;
}

export const contextAttacks: readonly Attack[] = [
  {
    name: 'context-of-10000-runs',
    async run(attacker) {
      const contextId = await contextOfRuns(attacker, 'quick-runs', { typeId: 'core.noop' });
      if (contextId === null) return;
      await readEverywhere(attacker, contextId);
      await attacker.quiet(2_000);
    },
  },
  {
    name: 'context-of-10000-open-runs',
    async run(attacker) {
      const contextId = await contextOfRuns(attacker, 'open-runs', {
        typeId: 'core.approvalGate',
        config: { title: 'Go on?' },
      });
      if (contextId === null) return;
      await readEverywhere(attacker, contextId);
      const path = `/api/contexts/${contextId}/stream`;
      for (let i = 0; i < 200; i += 20) {
        await Promise.all(Array.from({ length: 20 }, () => attacker.say(TALKER, { contextId })));
        await attacker.unread(20, attacker.request(path, [sse]));
      }
    },
  },
  readersAttack('context-with-1000-readers', 1_000, () => ''),
  readersAttack('context-with-1000-filters', 1_000, filterOf),
  {
    name: 'context-streams-unread',
    async run(attacker) {
      const said = await attacker.say(TALKER);
      if (said === null) return;
      await attacker.unread(100, attacker.request(`/api/contexts/${said.contextId}/stream?after=0`, [sse]));
      await attacker.ended(said.taskId);
      await attacker.quiet(3_000);
    },
  },
  {
    name: 'context-filters-of-15-kb',
    async run(attacker) {
      const said = await attacker.say(TALKER);
      if (said === null) return;
      await attacker.ended(said.taskId);
      const kinds = Array.from({ length: 1_000 }, () => 'content-delta')
        .join()
        .slice(0, 14_000)
        .replace(/,[^,]*$/, '');
      const path = `/api/contexts/${said.contextId}/events?limit=500&kinds=${kinds}`;
      for (let i = 0; i < 500; i += 50) await Promise.all(Array.from({ length: 50 }, () => attacker.send(path)));
    },
  },
  {
    name: 'messages-flood-one-context',
    endsWith: ['rate_limited'],
    async run(attacker) {
      const said = await attacker.say(TALKER);
      if (said === null) return;
      const { contextId } = said;
      const content = 'x'.repeat(100_000);
      for (let i = 0; i < 1_000; i += 50)
        await Promise.all(Array.from({ length: 50 }, () => attacker.say(TALKER, { contextId, content })));
    },
  },
  {
    name: 'messages-flood-500-contexts',
    async run(attacker) {
      const taskIds: string[] = [];
      for (let i = 0; i < 500; i += 25) {
        const said = await Promise.all(Array.from({ length: 25 }, () => attacker.say(TALKER)));
        taskIds.push(...said.flatMap((one) => (one === null ? [] : [one.taskId])));
      }
      await attacker.quiet(10_000);
      // Ten million pieces of text would take minutes.
      for (let at = 0; at < taskIds.length; at += MAX_BULK_CANCEL) {
        const body = JSON.stringify({ runIds: taskIds.slice(at, at + MAX_BULK_CANCEL) });
        await attacker.send('/v1/runs:bulk-cancel', { body });
      }
      for (const taskId of taskIds.slice(-5)) await attacker.ended(taskId);
    },
  },
  {
    name: 'messages-of-a-long-conversation',
    async run(attacker) {
      const first = await attacker.say(QUICK, { content: 'x'.repeat(50_000) });
      if (first === null) return;
      const { contextId } = first;
      // Each turn is told what was said before it.
      for (let i = 0; i < 400; i += 20) {
        const said = await Promise.all(Array.from({ length: 20 }, () => attacker.say(QUICK, { contextId })));
        for (const one of said.slice(-1)) await attacker.ended(one?.taskId ?? null);
      }
    },
  },
  {
    name: 'artifact-of-1-gb',
    async run(attacker) {
      const said = await attacker.say(WRITER);
      if (said === null) return;
      await attacker.ended(said.taskId);
      const { body } = await attacker.send(`/api/contexts/${said.contextId}/artifacts`);
      const [artifact] = objects(body.artifacts ?? []);
      if (artifact?.size !== 1_073_741_824) attacker.fault(`the artifact has ${String(artifact?.size)} bytes`);
      const path = `/api/contexts/${said.contextId}/artifacts/${String(artifact?.artifactId)}`;
      await attacker.unread(50, attacker.request(path));
      const bytes = await attacker.drain(path);
      if (bytes !== 1_073_741_824) attacker.fault(`the artifact was read with ${bytes} bytes`);
    },
  },
];
