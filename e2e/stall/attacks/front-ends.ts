/** What front ends send: tools of clients, AG-UI runs and AI SDK chats. */
import type { Json, JsonObject } from '@cairn/protocol';
import type { Attack } from '../attack.ts';
import type { Attacker, Watch } from '../attacker.ts';
import { ASKER, TALKER } from '../tenants.ts';

const sse = 'Accept: text/event-stream';

/** As many tools as one message may have, with schemas of about a kilobyte. */
const toolsWith = (parameters: (index: number) => JsonObject): readonly JsonObject[] =>
  Array.from({ length: 64 }, (_, index) => ({ name: `tool_${index}`, parameters: parameters(index) }));

/** Messages with tools, many at a time. */
const toolsAttack = (name: string, parameters: (index: number) => JsonObject): Attack => ({
  name,
  async run(attacker) {
    const tools = toolsWith(parameters);
    for (let i = 0; i < 200; i += 50)
      await Promise.all(Array.from({ length: 50 }, () => attacker.say(ASKER, { tools })));
  },
});

const never = { name: 'never', parameters: { type: 'object' } };

const aguiPath = `/api/agui/${TALKER}`;
const said = (id: string): JsonObject => ({ id, role: 'user', content: 'Go.' });

/** A run of AG-UI whose client sends a whole history with it. */
const aguiRun = (
  threadId: string,
  runId: string,
  { messages = [said('last')], ...more }: JsonObject = {},
): JsonObject => ({
  ...{ threadId, runId, messages, state: {}, tools: [], context: [], forwardedProps: {} },
  ...more,
});

const aiSdkPath = `/api/ai-sdk/${TALKER}`;
const shown = (id: string, role: string, parts: Json = [{ type: 'text', text: 'Go.' }]): JsonObject => ({
  ...{ id, role, parts },
});

/** Opens connections that read what this request brings. */
async function watchAll(attacker: Attacker, count: number, request: (i: number) => string): Promise<readonly Watch[]> {
  const watches: Watch[] = [];
  for (let i = 0; i < count; i += 1) watches.push(await attacker.watch(request(i)));
  return watches;
}

export const frontEndAttacks: readonly Attack[] = [
  toolsAttack('messages-with-tools-of-many-patterns', (index) => ({
    properties: { a: { type: 'string', pattern: `^${index}${'[a-z]{0,99}'.repeat(75)}$` } },
  })),
  toolsAttack('messages-with-tools-of-many-parts', (index) => ({
    properties: Object.fromEntries(Array.from({ length: 70 }, (_, i) => [`p${index}${i}`, { enum: [i] }])),
  })),
  {
    name: 'messages-with-tools-that-nobody-answers',
    async run(attacker) {
      const tasks = [];
      for (let i = 0; i < 1_000; i += 50)
        tasks.push(...(await Promise.all(Array.from({ length: 50 }, () => attacker.say(ASKER, { tools: [never] })))));
      const [first] = tasks;
      const contextId = first?.contextId ?? '';
      // Others wait behind it in its context, with readers that wait as well.
      await Promise.all(Array.from({ length: 30 }, () => attacker.say(ASKER, { contextId, tools: [never] })));
      await attacker.unread(100, attacker.request(`/api/contexts/${contextId}/stream?after=0`, [sse]));
      await attacker.send('/api/messages', { body: { message: { role: 'user', content: 'Go.' }, agentId: ASKER } });
      for (const task of tasks.slice(-20)) await attacker.ended(task?.taskId ?? null);
      const { body } = await attacker.send(`/api/contexts/${contextId}/events?kinds=tool-complete`);
      if (!JSON.stringify(body).includes('tool_timeout')) attacker.fault('the call of the tool did not time out');
    },
  },
  {
    name: 'messages-of-agui-300-threads',
    async run(attacker) {
      await watchAll(attacker, 300, (i) => attacker.posting(aguiPath, aguiRun(`thread-${i}`, `run-${i}`)));
      await attacker.quiet(10_000);
      await attacker.cancelRunning();
    },
  },
  {
    name: 'messages-of-agui-200-readers',
    async run(attacker) {
      const watches = await watchAll(attacker, 200, () => attacker.posting(aguiPath, aguiRun('shared', 'run')));
      // The last event begins with the whole text; this is at its end, in the newest bytes however they were cut.
      await attacker.allEndWith(watches, '"outcome":{"type":"success"}');
      await attacker.unread(200, attacker.posting(aguiPath, aguiRun('shared', 'run')));
      await attacker.quiet(3_000);
    },
  },
  {
    name: 'messages-of-agui-with-long-histories',
    async run(attacker) {
      const result = (i: number) => ({ id: `m${i}`, role: 'tool', content: 'x'.repeat(50), toolCallId: `call_${i}` });
      const messages = Array.from({ length: 4_990 }, (_, i) => result(i));
      for (let i = 0; i < 50; i += 10)
        await Promise.all(
          Array.from({ length: 10 }, (_, k) =>
            attacker.drain(aguiPath, {}, aguiRun('long', `run-${i + k}`, { messages })),
          ),
        );
    },
  },
  {
    name: 'messages-of-ai-sdk-300-chats',
    async run(attacker) {
      await watchAll(attacker, 300, (i) =>
        attacker.posting(aiSdkPath, { id: `chat-${i}`, messages: [shown('m', 'user')] }),
      );
      await attacker.quiet(10_000);
      await attacker.cancelRunning();
    },
  },
  {
    name: 'messages-of-ai-sdk-resumed-by-200',
    async run(attacker) {
      const [first] = await watchAll(attacker, 1, () =>
        attacker.posting(aiSdkPath, { id: 'shared', messages: [shown('m', 'user')] }),
      );
      await attacker.unread(100, attacker.request(`${aiSdkPath}/shared/stream`));
      await watchAll(attacker, 200, () => attacker.request(`${aiSdkPath}/shared/stream`));
      await attacker.allEndWith(first === undefined ? [] : [first], '[DONE]');
      await attacker.cancelRunning();
    },
  },
  {
    name: 'messages-of-ai-sdk-to-a-long-task',
    async run(attacker) {
      await watchAll(attacker, 1, () =>
        attacker.posting(aiSdkPath, { id: 'busy', messages: [shown('first', 'user')] }),
      );
      await attacker.quiet(2_000);
      // Each looks for what the open task waits for.
      for (let i = 0; i < 100; i += 20)
        await watchAll(attacker, 20, (k) =>
          attacker.posting(aiSdkPath, { id: 'busy', messages: [shown(`m${i + k}`, 'user')] }),
        );
      await attacker.quiet(3_000);
      await attacker.cancelRunning();
    },
  },
  {
    name: 'messages-of-ai-sdk-with-long-histories',
    async run(attacker) {
      const part = { type: 'tool-x', state: 'output-available', toolCallId: 'c', input: {}, output: 'x'.repeat(50) };
      const history = Array.from({ length: 1_000 }, (_, i) => shown(`m${i}`, 'assistant', [part, part, part, part]));
      const body = { id: 'long', messages: [...history, shown('last', 'user')] };
      for (let i = 0; i < 50; i += 10)
        await Promise.all(Array.from({ length: 10 }, () => attacker.drain(aiSdkPath, {}, body)));
    },
  },
];
