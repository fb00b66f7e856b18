import type { ChannelDeclaration, Json, JsonObject, WorkflowDefinition } from '@cairn/protocol';
import { describe, expect, test } from 'vitest';
import { bench, chain } from '../../../test/kit/engine-bench.ts';
import { agentSharing } from './agent-sharing.ts';

const message = { messageId: 'm1', from: 'vendor.acme.desk.triage', content: 'Hello', ts: 1 };

/** A run that writes one value to the channel `talk`. */
async function written(value: Json, config: JsonObject, declared?: ChannelDeclaration) {
  const { node, begin } = bench();
  const write = chain({ typeId: 'core.channelWrite', config: { channelName: 'talk', value, ...config } });
  const definition: WorkflowDefinition = declared === undefined ? write : { ...write, channels: { talk: declared } };
  const engine = node('a');
  return engine.snapshot('t', await begin(engine, definition));
}

const grouped = { reducer: 'message', agentSharing: 'shared:desk' };
const conversation: ChannelDeclaration = { reducer: 'message', options: { agentSharing: 'shared:desk' } };

describe('a message in the conversation of a group', () => {
  test('is taken when it names the group', async () => {
    const named = { ...message, groupId: 'desk' };
    expect(await written(named, grouped)).toMatchObject({ status: 'completed', channels: { talk: [named] } });
    expect(await written(named, {}, conversation)).toMatchObject({ channels: { talk: [named] } });
  });

  test.each([
    ['no groupId', message, 'it has no groupId, and the conversation is that of the group desk'],
    ['another group', { ...message, groupId: 'writers' }, 'it has the groupId'],
    ['a groupId that is no text', { ...message, groupId: ['desk'] }, 'it has the groupId'],
    ['nothing at all', 'Hello', 'A message has messageId, from, content and ts'],
  ])('is refused when it names %s', async (_, value, problem) => {
    for (const run of [await written(value, grouped), await written(value, {}, conversation)]) {
      expect(run).toMatchObject({ status: 'failed', error: { code: 'config_validation_failed' } });
      expect(run.error?.message).toContain(problem);
      expect(run.channels?.talk ?? null).toBeNull();
    }
  });

  test('is what the channel says it is, whatever its writer says', async () => {
    expect((await written(message, { agentSharing: 'shared' }, conversation)).status).toBe('failed');
  });
});

test.each(['isolated', 'shared', undefined])('a message needs no group where sharing is %s', async (agentSharing) => {
  const config = { reducer: 'message', ...(agentSharing === undefined ? {} : { agentSharing }) };
  expect((await written(message, config)).status).toBe('completed');
});

test('what is no message belongs to no group', async () => {
  expect((await written('x', { reducer: 'append', agentSharing: 'shared:desk' })).status).toBe('completed');
});

test.each(['Shared', 'shared:', 'shared:a b', 'group:desk', `shared:${'x'.repeat(129)}`, 7, null, {}])(
  'a workflow that shares by %j is not registered',
  async (sharing) => {
    const value = sharing as Json;
    expect(agentSharing.safeParse(value).error?.issues).toHaveLength(1);
    await expect(written(message, { reducer: 'message', agentSharing: value })).rejects.toMatchObject({
      code: 'validation_error',
      message: expect.stringContaining(
        'nodes[0].config.agentSharing (node n1): must be isolated, shared, or shared:<group>',
      ),
    });
    const declared = { reducer: 'message', options: { agentSharing: value } };
    await expect(written(message, {}, declared)).rejects.toMatchObject({
      code: 'validation_error',
      message: expect.stringContaining('channels.talk.options.agentSharing: must be isolated, shared,'),
    });
  },
);
